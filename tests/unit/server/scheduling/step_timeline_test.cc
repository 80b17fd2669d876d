#include "server/scheduling/step_timeline.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "mps_runtime/base/joining_thread.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;

constexpr TimePoint kStart{std::chrono::hours(1)};

void Step(StepTimeline& timeline, const char* model, size_t requests, milliseconds begin,
          milliseconds end) {
  timeline.Begin(0, model, requests, kStart + begin);
  timeline.End(0, kStart + end);
}

TEST(StepTimelineTest, AStepRunsUntilItEnds) {
  StepTimeline timeline(2);
  timeline.Begin(1, "voice", 3, kStart);
  auto workers = timeline.Read(TimePoint());
  ASSERT_EQ(workers.size(), 2U);
  EXPECT_FALSE(workers[0].running);
  ASSERT_TRUE(workers[1].running);
  EXPECT_EQ(workers[1].running->model, "voice");
  EXPECT_EQ(workers[1].running->requests, 3U);
  EXPECT_EQ(workers[1].running->begin, kStart);
  EXPECT_EQ(workers[1].steps, 0U);
  timeline.End(1, kStart + milliseconds(40));
  workers = timeline.Read(TimePoint());
  EXPECT_FALSE(workers[1].running);
  EXPECT_EQ(workers[1].steps, 1U);
  EXPECT_EQ(workers[1].requests, 3U);
  EXPECT_EQ(workers[1].busy, milliseconds(40));
  ASSERT_EQ(workers[1].blocks.size(), 1U);
  EXPECT_EQ(workers[1].blocks[0].model, "voice");
  EXPECT_EQ(workers[1].blocks[0].end, kStart + milliseconds(40));
}

TEST(StepTimelineTest, ShortStepsThatFollowCloselyShareABlock) {
  StepTimeline timeline(1);
  Step(timeline, "a", 1, milliseconds(0), milliseconds(10));
  Step(timeline, "a", 2, milliseconds(12), milliseconds(20));  // a block of 20 ms
  Step(timeline, "a", 1, milliseconds(20), milliseconds(30));  // would be too long
  Step(timeline, "a", 1, milliseconds(33), milliseconds(34));  // after a gap
  Step(timeline, "b", 1, milliseconds(34), milliseconds(35));  // another model's
  const auto worker = timeline.Read(TimePoint()).front();
  EXPECT_EQ(worker.steps, 5U);
  EXPECT_EQ(worker.busy, milliseconds(30));
  ASSERT_EQ(worker.blocks.size(), 4U);
  EXPECT_EQ(worker.blocks[0].steps, 2U);
  EXPECT_EQ(worker.blocks[0].requests, 3U);
  EXPECT_EQ(worker.blocks[0].end, kStart + milliseconds(20));
  EXPECT_EQ(worker.blocks[3].model, "b");
}

TEST(StepTimelineTest, OnlyTheLastBlocksAreKept) {
  StepTimeline timeline(1);
  const int steps = static_cast<int>(StepTimeline::kMaxBlocks) + 5;
  for (int i = 0; i < steps; ++i)
    Step(timeline, "a", 1, milliseconds(100 * i), milliseconds(100 * i + 50));
  const auto worker = timeline.Read(TimePoint()).front();
  EXPECT_EQ(worker.steps, static_cast<uint64_t>(steps));
  ASSERT_EQ(worker.blocks.size(), StepTimeline::kMaxBlocks);
  EXPECT_EQ(worker.blocks.front().begin, kStart + milliseconds(500));
  EXPECT_EQ(worker.blocks.back().begin, kStart + milliseconds(100 * (steps - 1)));
}

TEST(StepTimelineTest, BlocksFromBeforeAreLeftOut) {
  StepTimeline timeline(1);
  Step(timeline, "a", 1, milliseconds(0), milliseconds(10));
  Step(timeline, "a", 1, milliseconds(50), milliseconds(60));
  EXPECT_EQ(timeline.Read(kStart + milliseconds(10)).front().blocks.size(), 1U);
  EXPECT_EQ(timeline.Read(kStart + milliseconds(60)).front().blocks.size(), 0U);
}

TEST(StepTimelineTest, EachStepIsReadOnceWhileSomebodyRecords) {
  StepTimeline timeline(2);
  Step(timeline, "a", 1, milliseconds(0), milliseconds(1));  // before
  auto workers = timeline.RecordSteps({}, kStart + milliseconds(2));
  ASSERT_EQ(workers.size(), 2U);
  EXPECT_TRUE(workers[0].steps.empty());
  Step(timeline, "a", 2, milliseconds(3), milliseconds(4));
  Step(timeline, "a", 3, milliseconds(5), milliseconds(6));
  std::vector<uint64_t> seen = {workers[0].next, workers[1].next};
  workers = timeline.RecordSteps(seen, kStart + milliseconds(7));
  ASSERT_EQ(workers[0].steps.size(), 2U);
  EXPECT_EQ(workers[0].steps[0].model, "a");
  EXPECT_EQ(workers[0].steps[0].requests, 2U);
  EXPECT_EQ(workers[0].steps[0].begin, kStart + milliseconds(3));
  EXPECT_EQ(workers[0].steps[0].end, kStart + milliseconds(4));
  EXPECT_EQ(workers[0].steps[1].requests, 3U);
  EXPECT_EQ(workers[0].lost, 0U);
  EXPECT_TRUE(workers[1].steps.empty());
  seen = {workers[0].next, workers[1].next};
  EXPECT_TRUE(timeline.RecordSteps(seen, kStart + milliseconds(8))[0].steps.empty());
}

TEST(StepTimelineTest, ARecordingIsBoundedAndTellsWhatItLost) {
  StepTimeline timeline(1);
  const std::vector<uint64_t> seen = {timeline.RecordSteps({}, kStart)[0].next};
  const int steps = static_cast<int>(StepTimeline::kMaxSteps) + 5;
  for (int i = 0; i < steps; ++i) Step(timeline, "a", 1, milliseconds(1), milliseconds(2));
  const auto worker = timeline.RecordSteps(seen, kStart)[0];
  EXPECT_EQ(worker.steps.size(), StepTimeline::kMaxSteps);
  EXPECT_EQ(worker.lost, 5U);
}

TEST(StepTimelineTest, ARecordingEndsWhenNobodyReadsIt) {
  StepTimeline timeline(1);
  const std::vector<uint64_t> seen = {timeline.RecordSteps({}, kStart)[0].next};
  Step(timeline, "a", 1, milliseconds(1), milliseconds(2));
  Step(timeline, "a", 1, milliseconds(2), milliseconds(5001));
  const auto worker = timeline.RecordSteps(seen, kStart + milliseconds(5002))[0];
  EXPECT_TRUE(worker.steps.empty());
  EXPECT_EQ(worker.lost, 2U);
}

// As after a restart of the server.
TEST(StepTimelineTest, ANumberFromTheFutureLosesNothing) {
  StepTimeline timeline(1);
  const auto worker = timeline.RecordSteps(std::vector<uint64_t>{1000}, kStart)[0];
  EXPECT_EQ(worker.next, 0U);
  EXPECT_EQ(worker.lost, 0U);
}

TEST(StepTimelineTest, ItIsReadWhileWorkersReport) {
  StepTimeline timeline(1);
  constexpr int kSteps = 10'000;
  const JoiningThread worker([&timeline] {
    for (int i = 0; i < kSteps; ++i)
      Step(timeline, "a", 1, milliseconds(3 * i), milliseconds(3 * i + 1));
  });
  uint64_t seen = 0;
  while (seen < kSteps) {
    const auto now = timeline.Read(TimePoint()).front();
    EXPECT_GE(now.steps, seen);
    EXPECT_EQ(now.busy, milliseconds(1) * now.steps);
    seen = now.steps;
  }
}

}  // namespace
}  // namespace millrace::server
