#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mps_runtime/forward_mode.h"
#include "mps_runtime/provenance.h"
#include "mps_runtime/selftest/test_result.h"
#include "mps_runtime/stream.h"

namespace millrace::runtime {

class Runtime;

// The properties of the loaded libtorch and of the runtime on it that the tests do not measure.
struct SupportFacts {
  DeviceType device = DeviceType::kCpu;
  Provenance provenance;
  ForwardMode mode = ForwardMode::kParallel;
  int permits = 1;             // forwards at once
  std::string permits_source;  // see Runtime::safe_concurrency_source
  // True if libtorch exports the function of its MPS backend:
  bool sets_thread_stream = false;      // it sets the stream of a thread
  bool waits_for_all_streams = false;   // it waits for all streams
  bool keeps_errors_by_stream = false;  // it throws a stream's error
  bool has_profiler = false;            // it makes the profiler
};

SupportFacts ReadSupportFacts(Runtime& runtime);

// One property that concurrent forwards rest on.
struct SupportRow {
  enum class Answer : uint8_t { kYes, kPartly, kNo, kNotTried, kNotNeeded, kNotApplicable };
  enum class Tests : uint8_t { kNone, kPassed, kNotRun, kFailed };  // the last is the worst

  std::string_view name;
  Answer libtorch = Answer::kNotApplicable;  // says if libtorch has it: not kNotNeeded
  Answer millrace = Answer::kNotNeeded;      // says if Millrace makes up for what libtorch lacks
  Tests tests = Tests::kNone;                // the tests that show it; kNone: none does
  std::string why;                           // where the answers come from
  std::vector<std::string> tried;  // a name that was looked up, or a test with its outcome
};

// Returns "yes", "partly", "no", "not tried", "not needed" or "not applicable".
std::string_view ToString(SupportRow::Answer answer);
// Returns "passed", "failed", "not run" or "none".
std::string_view ToString(SupportRow::Tests tests);

// Returns all rows, in the same order for every device. A test that failed takes back what Millrace
// claims.
std::vector<SupportRow> SupportRows(const SupportFacts& facts, std::span<const TestResult> results);

}  // namespace millrace::runtime
