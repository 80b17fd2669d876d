#include "tests/load/loadgen/recorder.h"

#include <gtest/gtest.h>

#include <chrono>

namespace millrace::loadgen {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const SteadyTime kStart = SteadyTime() + seconds(1000);

// Due, sent and answered so long after the start.
CallTimes Times(milliseconds due, milliseconds sent, milliseconds done) {
  return {kStart + due, kStart + sent, kStart + done};
}

TEST(RecorderTest, LatencyCountsFromWhenTheCallWasDue) {
  Recorder recorder(kStart, seconds(10));
  recorder.AddCall(grpc::Status::OK, Times(milliseconds(0), milliseconds(70), milliseconds(100)));
  EXPECT_NEAR(recorder.status(grpc::OK).latency.PercentileMs(0.5), 100, 2);
  EXPECT_NEAR(recorder.status(grpc::OK).service.PercentileMs(0.5), 30, 1);
  EXPECT_NEAR(recorder.send_lag().PercentileMs(0.5), 70, 2);
}

TEST(RecorderTest, GoodputLeavesOutWhatCameAfterTheWindow) {
  Recorder recorder(kStart, seconds(1));
  recorder.AddCall(grpc::Status::OK, Times(milliseconds(0), milliseconds(0), milliseconds(1000)));
  recorder.AddCall(grpc::Status::OK, Times(milliseconds(0), milliseconds(0), milliseconds(1001)));
  EXPECT_EQ(recorder.status(grpc::OK).latency.count(), 2U);
  EXPECT_EQ(recorder.ok_in_window(), 1U);
}

TEST(RecorderTest, KeepsStatusesApartAndTheirFirstMessage) {
  Recorder recorder(kStart, seconds(10));
  const CallTimes times = Times(milliseconds(0), milliseconds(0), milliseconds(1));
  recorder.AddCall({grpc::StatusCode::RESOURCE_EXHAUSTED, "full"}, times);
  recorder.AddCall({grpc::StatusCode::RESOURCE_EXHAUSTED, "still full"}, times);
  recorder.AddCall({grpc::StatusCode::DEADLINE_EXCEEDED, "late"}, times);
  EXPECT_EQ(recorder.status(grpc::RESOURCE_EXHAUSTED).latency.count(), 2U);
  EXPECT_EQ(recorder.status(grpc::DEADLINE_EXCEEDED).latency.count(), 1U);
  EXPECT_EQ(recorder.ok_in_window(), 0U);
  const auto messages = recorder.messages();
  EXPECT_EQ(messages.at(grpc::RESOURCE_EXHAUSTED), "full");
  EXPECT_EQ(messages.at(grpc::DEADLINE_EXCEEDED), "late");
}

}  // namespace
}  // namespace millrace::loadgen
