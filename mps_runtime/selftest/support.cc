#include "mps_runtime/selftest/support.h"

#include <algorithm>

#include "mps_runtime/base/check.h"

namespace millrace::runtime {
namespace {

using Answer = SupportRow::Answer;
using Tests = SupportRow::Tests;

// The answers for a row before its tests are looked at. They settle an answer of kNotTried.
struct Claim {
  Answer libtorch = Answer::kNotApplicable;
  Answer millrace = Answer::kNotNeeded;
  std::string why;
  std::vector<std::string> looked_up = {};
};

std::string LookedUp(std::string_view function, bool found) {
  return std::string(function) + (found ? " is exported" : " is not exported");
}

std::string PatchLevel(const SupportFacts& facts) {
  return "the patch level is " + std::to_string(facts.provenance.mps_patch_level);
}

bool IsPatched(const SupportFacts& facts) { return facts.provenance.mps_patch_level >= 1; }

bool HasStreamsByNumber(const SupportFacts& facts) {
  return facts.provenance.pool_symbols == "getStreamByID";
}

Claim NotOn(DeviceType device, std::string_view reason) {
  return {.why = "not on " + std::string(ToString(device)) + ": " + std::string(reason)};
}

Claim Pool(const SupportFacts& facts) {
  if (facts.device == DeviceType::kCpu) {
    return {Answer::kNotApplicable, Answer::kYes,
            "a CPU has no streams; each worker leases a lane of threads"};
  }
  if (facts.device == DeviceType::kCuda) {
    return {Answer::kPartly, Answer::kYes,
            "libtorch's pool is a ring that may give a stream out twice; each worker leases one"};
  }
  const std::string& symbols = facts.provenance.pool_symbols;
  std::vector<std::string> looked_up = {LookedUp("getStreamByID", HasStreamsByNumber(facts)),
                                        "stream functions: " + symbols};
  if (HasStreamsByNumber(facts)) {
    return {Answer::kPartly, Answer::kYes,
            "libtorch returns streams by number and keeps no account of users; each worker leases "
            "one",
            looked_up};
  }
  return {symbols == "none" ? Answer::kNo : Answer::kPartly, Answer::kNo,
          "streams cannot be asked for by number, so there is one worker", looked_up};
}

Claim Assignment(const SupportFacts& facts) {
  if (facts.device == DeviceType::kCpu) {
    return {Answer::kNotApplicable, Answer::kYes,
            "a CPU has no streams; use of a lane on another thread is refused"};
  }
  const char* const kRefused = "a thread has a current stream; Millrace refuses another thread's";
  if (facts.device == DeviceType::kCuda) return {Answer::kYes, Answer::kNotNeeded, kRefused};
  std::vector<std::string> looked_up = {LookedUp("setCurrentMPSStream", facts.sets_thread_stream)};
  if (facts.sets_thread_stream) {
    return {Answer::kYes, Answer::kNotNeeded, kRefused, looked_up};
  }
  return {Answer::kNo, Answer::kPartly,
          "all threads share the default stream; one worker has it to itself", looked_up};
}

Claim Caches(const SupportFacts& facts) {
  if (facts.device == DeviceType::kCpu) return NotOn(facts.device, "operators compile no graphs");
  if (facts.device == DeviceType::kCuda) {
    return {Answer::kNo, Answer::kYes,
            "libtorch keeps no graphs; each worker has a cache of CUDA graphs"};
  }
  if (IsPatched(facts)) {
    return {Answer::kYes,
            Answer::kNotNeeded,
            "each thread has its own graph and kernel caches",
            {PatchLevel(facts)}};
  }
  const bool locked = facts.mode != ForwardMode::kParallel || facts.permits == 1;
  return {Answer::kNo,
          locked ? Answer::kYes : Answer::kNo,
          "one graph cache serves all threads; the mode is " + std::string(ToString(facts.mode)) +
              (locked ? ", so one thread submits at a time" : ", so threads encode at once"),
          {PatchLevel(facts)}};
}

Claim WarmUp(const SupportFacts& facts) {
  if (facts.device == DeviceType::kCpu)
    return NotOn(facts.device, "there is nothing to initialise");
  if (facts.device == DeviceType::kCuda) {
    return {Answer::kYes,
            Answer::kNotNeeded,
            "libtorch initialises CUDA once; the main thread does it before there are workers",
            {"first use of the device on the main thread: done"}};
  }
  const bool patched = IsPatched(facts);
  return {patched ? Answer::kYes : Answer::kNo,
          patched ? Answer::kNotNeeded : Answer::kYes,
          patched ? "the default stream is made once, whichever threads come first"
                  : "first uses race; the main thread makes them before there are workers",
          {PatchLevel(facts), "first use of the device on the main thread: done"}};
}

Claim OwnStreamWait(const SupportFacts& facts) {
  if (facts.device == DeviceType::kCpu)
    return NotOn(facts.device, "an operator has finished when it returns");
  if (facts.device == DeviceType::kCuda) {
    return {Answer::kYes, Answer::kNotNeeded, "a stream can be waited for alone"};
  }
  std::vector<std::string> looked_up = {
      PatchLevel(facts), LookedUp("synchronizeAllMPSStreams", facts.waits_for_all_streams)};
  if (IsPatched(facts)) {
    return {Answer::kYes, Answer::kNotNeeded,
            "torch::mps::synchronize() waits for the calling thread's stream", looked_up};
  }
  return {Answer::kNo, Answer::kYes,
          "torch::mps::synchronize() waits for " +
              std::string(facts.waits_for_all_streams ? "every stream" : "the default stream") +
              "; a worker waits on its own stream's queue",
          looked_up};
}

Claim Handlers(const SupportFacts& facts) {
  if (facts.device != DeviceType::kMps) return NotOn(facts.device, "there are no command buffers");
  std::vector<std::string> looked_up = {
      LookedUp("MPSStream::checkLastError", facts.keeps_errors_by_stream)};
  if (facts.keeps_errors_by_stream) {
    return {Answer::kYes, Answer::kNotNeeded,
            "a stream keeps the error of its command buffers; Millrace adds no handler and reads "
            "it at the wait",
            looked_up};
  }
  return {Answer::kNo, Answer::kNo,
          "nothing tells that the error of a command buffer reaches the stream's wait", looked_up};
}

Claim CommandBuffers(const SupportFacts& facts) {
  if (facts.device != DeviceType::kMps) return NotOn(facts.device, "there are no command buffers");
  std::vector<std::string> looked_up = {PatchLevel(facts),
                                        LookedUp("getStreamByID", HasStreamsByNumber(facts))};
  if (IsPatched(facts)) {
    return {Answer::kYes, Answer::kNotNeeded,
            "command buffers and encoders are made on their stream's queue only", looked_up};
  }
  // No function that is exported tells of it, so without the test nothing is known.
  return {HasStreamsByNumber(facts) ? Answer::kNotTried : Answer::kNo, Answer::kYes,
          std::string(HasStreamsByNumber(facts)
                          ? "operators encode through their stream's queue where the test passes"
                          : "some operators of this release encode off their stream's queue") +
              "; Millrace keeps a stream to one thread",
          looked_up};
}

Claim LinearKernel(const SupportFacts& facts) {
  if (facts.device != DeviceType::kMps) {
    return {Answer::kNotTried, Answer::kNotNeeded,
            "the kernel of nn.Linear shares nothing between threads if it survives the test"};
  }
  if (IsPatched(facts)) {
    return {Answer::kYes,
            Answer::kNotNeeded,
            "each thread has its own kernel of nn.Linear",
            {PatchLevel(facts)}};
  }
  return {Answer::kNo,
          Answer::kYes,
          "one kernel object without a lock; models are loaded with a matrix product instead",
          {PatchLevel(facts)}};
}

Claim LimiterOf(const SupportFacts& facts) {
  return {Answer::kNo,
          Answer::kYes,
          "libtorch does not bound forwards in flight; Millrace does",
          {"permits: " + std::to_string(facts.permits) + " by the " + facts.permits_source}};
}

Claim Scaling(const SupportFacts& facts) {
  const std::string mode(ToString(facts.mode));
  if (facts.permits == 1) {
    return {Answer::kNo, Answer::kNo, "one forward at a time is held safe here", {"mode: " + mode}};
  }
  if (facts.mode == ForwardMode::kParallel) {
    return {Answer::kYes, Answer::kNotNeeded, "workers submit at the same time", {"mode: " + mode}};
  }
  return {Answer::kNo,
          Answer::kPartly,
          "one thread submits at a time; waits for the device overlap",
          {"mode: " + mode}};
}

Claim ProvenanceOf(const SupportFacts& facts) {
  const Provenance& provenance = facts.provenance;
  return {
      Answer::kPartly,
      Answer::kYes,
      "libtorch tells version and revision; Millrace finds its file, stream functions and patch "
      "level, and refuses another version than it was compiled against",
      {"libtorch " + provenance.libtorch_version + ", revision " +
       provenance.libtorch_git_revision + ", compiled against " + provenance.compiled_against}};
}

Claim Profiler(const SupportFacts& facts) {
  if (facts.device != DeviceType::kMps)
    return NotOn(facts.device, "the profiler in question is that of the MPS backend");
  std::vector<std::string> looked_up = {PatchLevel(facts),
                                        LookedUp("getMPSProfiler", facts.has_profiler)};
  if (IsPatched(facts)) {
    return {Answer::kYes, Answer::kNotNeeded, "the profiler's containers are locked", looked_up};
  }
  return {Answer::kNo, Answer::kNotNeeded,
          "threads share the profiler without a lock; Millrace never starts it", looked_up};
}

Claim Boundary(const SupportFacts&) {
  return {Answer::kNo, Answer::kYes,
          "libtorch promises no number of threads; `millrace calibrate` measures it"};
}

// A test that shows a row, and what of its findings tells most.
struct Trial {
  std::string_view test;
  std::vector<std::string_view> figures = {};
  std::string_view op = {};  // an operator, whose outcomes tell more than the figures
};

struct RowSource {
  std::string_view name;
  Claim (*claim)(const SupportFacts& facts);
  std::vector<Trial> trials;
};

const std::vector<RowSource>& Sources() {
  static const auto* const kSources = new std::vector<RowSource>{
      {"pool",
       Pool,
       {{"StreamAssignment", {"streams"}},
        {"OverSubscription", {"refused"}},
        {"ThreadChurn", {"leaked_streams"}}}},
      {"assignment", Assignment, {{"StreamAssignment", {"rounds", "refused"}}}},
      {"caches",
       Caches,
       {{"GraphsEqualEager", {"wrong"}}, {"GraphsThatAreEvictedEqualEager", {"wrong"}}}},
      {"warm-up", WarmUp, {{"ThreadChurn", {"threads"}}}},
      {"own-stream synchronisation",
       OwnStreamWait,
       {{"OwnStreamWait", {"own_wait_ms", "other_work_ms"}}}},
      {"handlers", Handlers, {}},
      {"command buffers", CommandBuffers, {{"EncodersOnTheQueue", {"ok", "tried"}}}},
      {"nn.Linear", LinearKernel, {{"ThreadBoundary", {}, "linear"}}},
      {"limiter", LimiterOf, {{"ExtendedStress16x50", {"peak_in_flight"}}}},
      {"scaling", Scaling, {{"LinearSerialAgainstPool", {"gain_ratio", "workers"}}}},
      {"provenance", ProvenanceOf, {}},
      {"profiler", Profiler, {}},
      {"boundary", Boundary, {{"ThreadBoundary", {"ok", "tried"}}}},
  };
  return *kSources;
}

const TestResult* Find(std::string_view test, std::span<const TestResult> results) {
  const auto found = std::find_if(results.begin(), results.end(),
                                  [&](const TestResult& result) { return result.name == test; });
  return found == results.end() ? nullptr : &*found;
}

std::string Detail(const Trial& trial, const TestResult& result) {
  std::string detail;
  for (const OperatorOutcome& outcome : result.findings.outcomes) {
    if (outcome.op != trial.op) continue;
    detail += ' ' + std::to_string(outcome.threads) + "x " + outcome.outcome;
  }
  if (!detail.empty()) return ", " + std::string(trial.op) + detail;
  for (const Figure& figure : result.findings.figures) {
    if (std::find(trial.figures.begin(), trial.figures.end(), figure.name) != trial.figures.end())
      detail += ", " + figure.name + '=' + FigureText(figure.value);
  }
  return detail;
}

SupportRow RowOf(const RowSource& source, const SupportFacts& facts,
                 std::span<const TestResult> results) {
  Claim claim = source.claim(facts);
  SupportRow row{.name = source.name,
                 .libtorch = claim.libtorch,
                 .millrace = claim.millrace,
                 .why = std::move(claim.why),
                 .tried = std::move(claim.looked_up)};
  if (claim.libtorch == Answer::kNotApplicable && claim.millrace == Answer::kNotNeeded) return row;
  for (const Trial& trial : source.trials) {
    const TestResult* const result = Find(trial.test, results);
    const std::string test(trial.test);
    if (result == nullptr) {
      row.tests = std::max(row.tests, Tests::kNotRun);
      row.tried.push_back(test + ": not run");
      continue;
    }
    const bool passed = result->status == TestResult::Status::kPassed;
    row.tests = std::max(row.tests, passed ? Tests::kPassed : Tests::kFailed);
    row.tried.push_back(test + ": " + std::string(ToString(result->status)) +
                        Detail(trial, *result));
  }
  if (row.libtorch == Answer::kNotTried && row.tests == Tests::kPassed) row.libtorch = Answer::kYes;
  if (row.tests == Tests::kFailed) {
    if (row.libtorch == Answer::kNotTried) row.libtorch = Answer::kNo;
    row.millrace = Answer::kNo;
  }
  return row;
}

}  // namespace

std::string_view ToString(Answer answer) {
  switch (answer) {
    case Answer::kYes:
      return "yes";
    case Answer::kPartly:
      return "partly";
    case Answer::kNo:
      return "no";
    case Answer::kNotTried:
      return "not tried";
    case Answer::kNotNeeded:
      return "not needed";
    case Answer::kNotApplicable:
      return "not applicable";
  }
  MILLRACE_UNREACHABLE();
}

std::string_view ToString(Tests tests) {
  switch (tests) {
    case Tests::kPassed:
      return "passed";
    case Tests::kFailed:
      return "failed";
    case Tests::kNotRun:
      return "not run";
    case Tests::kNone:
      return "none";
  }
  MILLRACE_UNREACHABLE();
}

std::vector<SupportRow> SupportRows(const SupportFacts& facts,
                                    std::span<const TestResult> results) {
  std::vector<SupportRow> rows;
  for (const RowSource& source : Sources()) rows.push_back(RowOf(source, facts, results));
  return rows;
}

}  // namespace millrace::runtime
