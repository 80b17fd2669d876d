#include "server/client/trace_file.h"

#include <gtest/gtest.h>

#include <sstream>

#include "nlohmann/json.hpp"

namespace millrace {
namespace {

using nlohmann::json;

void AddStep(v1::GetTimelineResponse::Worker& worker, const char* model, int64_t begin_ns,
             int64_t duration_ns, uint32_t requests) {
  auto& step = *worker.add_steps();
  step.set_model(model);
  step.set_begin_ns(begin_ns);
  step.set_duration_ns(duration_ns);
  step.set_requests(requests);
}

TEST(TraceFileTest, WorkersAreThreadsAndStepsAreEvents) {
  std::ostringstream out;
  TraceFile trace(out, 2, 1'000'000);
  v1::GetTimelineResponse response;
  response.add_workers();
  AddStep(*response.add_workers(), "voice \"x\"", 1'002'500, 3'000, 4);
  trace.Add(response);
  response.mutable_workers(1)->set_lost(7);
  response.set_now_ns(2'000'000);
  trace.Add(response);
  trace.Close();
  EXPECT_EQ(json::parse(out.str()), json::parse(R"({"displayTimeUnit": "ms", "traceEvents": [
    {"ph": "M", "pid": 1, "tid": 0, "name": "process_name", "args": {"name": "millrace"}},
    {"ph": "M", "pid": 1, "tid": 1, "name": "thread_name", "args": {"name": "worker 0"}},
    {"ph": "M", "pid": 1, "tid": 2, "name": "thread_name", "args": {"name": "worker 1"}},
    {"ph": "X", "pid": 1, "tid": 2, "name": "voice \"x\"", "cat": "step", "ts": 2.5, "dur": 3.0,
     "args": {"batch_size": 4}},
    {"ph": "X", "pid": 1, "tid": 2, "name": "voice \"x\"", "cat": "step", "ts": 2.5, "dur": 3.0,
     "args": {"batch_size": 4}},
    {"ph": "i", "s": "t", "pid": 1, "tid": 2, "name": "steps lost", "ts": 1000.0,
     "args": {"steps": 7}}]})"));
  EXPECT_EQ(trace.steps(), 2U);
  EXPECT_EQ(trace.lost(), 7U);
}

TEST(TraceFileTest, ARecordingWithoutStepsIsValidToo) {
  std::ostringstream out;
  TraceFile trace(out, 1, 0);
  trace.Close();
  EXPECT_EQ(json::parse(out.str())["traceEvents"].size(), 2U);
}

}  // namespace
}  // namespace millrace
