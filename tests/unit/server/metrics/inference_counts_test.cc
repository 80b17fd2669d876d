#include "server/metrics/inference_counts.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "mps_runtime/base/joining_thread.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr StepTimes kTimes{.permit = nanoseconds(1),
                           .input = nanoseconds(20),
                           .infer = nanoseconds(300),
                           .output = nanoseconds(4000)};

TEST(InferenceCountsTest, BeginWithNothing) {
  const InferenceCounts::Totals totals = InferenceCounts(8).Collect();
  EXPECT_EQ(totals.success.count, 0U);
  EXPECT_EQ(totals.failure.count, 0U);
  EXPECT_EQ(totals.steps, 0U);
  EXPECT_FALSE(totals.last_step);
  EXPECT_TRUE(totals.batches.empty());
}

TEST(InferenceCountsTest, KeepFailuresApart) {
  InferenceCounts counts(1);
  counts.CountSuccess(nanoseconds(9000), nanoseconds(500), kTimes);
  counts.CountSuccess(nanoseconds(9001), nanoseconds(500), kTimes);
  counts.CountFailure(milliseconds(7));
  const InferenceCounts::Totals totals = counts.Collect();
  EXPECT_EQ(totals.success.count, 2U);
  EXPECT_EQ(totals.success.ns, 18001U);
  EXPECT_EQ(totals.failure.count, 1U);
  EXPECT_EQ(totals.failure.ns, 7'000'000U);
  EXPECT_EQ(totals.queue_ns, 1002U);  // the waits for permits too
  EXPECT_EQ(totals.input_ns, 40U);
  EXPECT_EQ(totals.infer_ns, 600U);
  EXPECT_EQ(totals.output_ns, 8000U);
}

TEST(InferenceCountsTest, KeepStepsBySizeOfBatch) {
  InferenceCounts counts(9);
  const TimePoint first(milliseconds(5));
  counts.CountStep(9, kTimes, first);
  counts.CountStep(2, kTimes, first + milliseconds(1));
  counts.CountStep(9, kTimes, first + milliseconds(2));
  const InferenceCounts::Totals totals = counts.Collect();
  EXPECT_EQ(totals.steps, 3U);
  EXPECT_EQ(totals.last_step, first + milliseconds(2));
  ASSERT_EQ(totals.batches.size(), 2U);
  EXPECT_EQ(totals.batches[0].requests, 2U);
  EXPECT_EQ(totals.batches[0].steps, 1U);
  EXPECT_EQ(totals.batches[1].requests, 9U);
  EXPECT_EQ(totals.batches[1].steps, 2U);
  EXPECT_EQ(totals.batches[1].input_ns, 40U);
  EXPECT_EQ(totals.batches[1].infer_ns, 600U);
  EXPECT_EQ(totals.batches[1].output_ns, 8000U);
}

TEST(InferenceCountsTest, SizesOutOfRangeCountAsTheNearest) {
  InferenceCounts counts(4);
  counts.CountStep(5, kTimes, TimePoint());
  counts.CountStep(0, kTimes, TimePoint());
  const InferenceCounts::Totals totals = counts.Collect();
  ASSERT_EQ(totals.batches.size(), 2U);
  EXPECT_EQ(totals.batches[0].requests, 1U);
  EXPECT_EQ(totals.batches[1].requests, 4U);
}

TEST(InferenceCountsTest, TimesThatRunBackwardsCountAsNothing) {
  InferenceCounts counts(1);
  counts.CountSuccess(nanoseconds(-5), nanoseconds(-5), {});
  counts.CountFailure(nanoseconds(-1));
  EXPECT_EQ(counts.Collect().success.ns, 0U);
  EXPECT_EQ(counts.Collect().queue_ns, 0U);
  EXPECT_EQ(counts.Collect().failure.ns, 0U);
}

TEST(InferenceCountsTest, LoseNothingBetweenThreads) {
  constexpr int kThreads = 16;  // more than have a shard of their own
  constexpr int kEach = 2000;
  InferenceCounts counts(4);
  {
    std::vector<JoiningThread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&counts, i] {
        for (int n = 0; n < kEach; ++n) {
          counts.CountStep(static_cast<size_t>(1 + i % 4), kTimes, TimePoint());
          counts.CountSuccess(nanoseconds(2), nanoseconds(1), kTimes);
          counts.CountFailure(nanoseconds(3));
        }
      });
    }
  }
  const InferenceCounts::Totals totals = counts.Collect();
  EXPECT_EQ(totals.success.count, uint64_t{kThreads * kEach});
  EXPECT_EQ(totals.success.ns, uint64_t{2 * kThreads * kEach});
  EXPECT_EQ(totals.failure.ns, uint64_t{3 * kThreads * kEach});
  EXPECT_EQ(totals.steps, uint64_t{kThreads * kEach});
  ASSERT_EQ(totals.batches.size(), 4U);
  for (const InferenceCounts::Batches& batches : totals.batches)
    EXPECT_EQ(batches.infer_ns, uint64_t{300} * kThreads / 4 * kEach);
}

}  // namespace
}  // namespace millrace::server
