#include "mps_runtime/calibration/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

namespace millrace::runtime {
namespace {

using ::testing::ElementsAre;

const CalibrationItem kItem{.name = "linear"};

// A device that survives `limit` threads, and on more of them crashes with this probability.
class SimulatedDevice {
 public:
  SimulatedDevice(int limit, double crash_probability, uint64_t seed)
      : limit_(limit), crash_probability_(crash_probability), random_(seed) {}

  RunOutcome operator()(const CalibrationItem&, int threads) {
    ++runs[threads];
    if (threads <= limit_) return RunOutcome::kOk;
    return std::bernoulli_distribution(crash_probability_)(random_) ? RunOutcome::kCrash
                                                                    : RunOutcome::kOk;
  }

  std::map<int, int> runs;  // by threads

 private:
  const int limit_;
  const double crash_probability_;
  std::mt19937_64 random_;
};

ProfileItem Search(const Probe& probe, int repeats, std::vector<int> threads = DefaultThreads(31),
                   BoundarySearch::Hooks hooks = {}) {
  return *BoundarySearch({.threads = std::move(threads), .repeats = repeats}, probe,
                         std::move(hooks))
              .Find(kItem);
}

std::vector<int> ThreadsOf(const ProfileItem& item) {
  std::vector<int> threads;
  for (const RunCounts& cell : item.runs) threads.push_back(cell.threads);
  return threads;
}

constexpr int kLimits[] = {1, 2, 3, 5, 8};

TEST(BoundarySearchTest, FindsEachLimitThatCrashesForSure) {
  for (const int limit : kLimits) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      SimulatedDevice device(limit, 1, seed);
      EXPECT_EQ(Search(std::ref(device), 2).safe_concurrency, limit);
    }
  }
}

// 20 of 20 searches must all be right, for five limits. Beyond a limit a search tries up to five
// numbers of threads that could be missed, so that (1 - 0.95^K)^(20 * 5 * 5) is to be near 1: a
// miss of 1e-5 in each makes it 0.995, and takes K = 225.
TEST(BoundarySearchTest, FindsEachLimitThatCrashesInFivePercentOfRuns) {
  constexpr int repeats = 225;  // 0.95^225 < 1e-5
  EXPECT_EQ(repeats, 225);
  for (const int limit : kLimits) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      SimulatedDevice device(limit, 0.05, seed);
      const ProfileItem found = Search(std::ref(device), repeats);
      EXPECT_EQ(found.safe_concurrency, limit) << "seed " << seed;
      EXPECT_EQ(SafeConcurrencyOf(found.runs, repeats), limit);
    }
  }
}

// How often it misses is what the formula says.
TEST(BoundarySearchTest, MissesAsOftenAsComputed) {
  constexpr int kSearches = 4000;
  constexpr int kRepeats = 20;
  int misses = 0;
  for (uint64_t seed = 0; seed < kSearches; ++seed) {
    SimulatedDevice device(1, 0.05, seed);
    misses += Search(std::ref(device), kRepeats, {1, 2}).safe_concurrency != 1;
  }
  const double expected = std::pow(0.95, kRepeats);  // 0.358
  const double deviation = std::sqrt(expected * (1 - expected) / kSearches);
  EXPECT_NEAR(static_cast<double>(misses) / kSearches, expected, 4 * deviation);
}

TEST(BoundarySearchTest, WithoutAFailureTheLargestNumberIsSafe) {
  SimulatedDevice device(31, 1, 0);
  const ProfileItem found = Search(std::ref(device), 3, DefaultThreads(31));
  EXPECT_EQ(found.safe_concurrency, 31);
  EXPECT_THAT(ThreadsOf(found), ElementsAre(1, 2, 3, 4, 6, 8, 12, 16, 24, 31));
  for (const auto& [threads, runs] : device.runs) EXPECT_EQ(runs, 3) << threads;
}

TEST(BoundarySearchTest, HalvesTheGapAndSparesTheRunsBeyond) {
  SimulatedDevice device(13, 1, 0);
  const ProfileItem found = Search(std::ref(device), 50, {1, 8, 16, 24, 31});
  EXPECT_EQ(found.safe_concurrency, 13);
  EXPECT_THAT(ThreadsOf(found), ElementsAre(1, 8, 12, 13, 14, 16, 24, 31));
  EXPECT_EQ(device.runs[13], 50);
  EXPECT_EQ(device.runs[16], 1) << "one failure decides";

  SimulatedDevice rare(1, 1e-9, 0);
  const auto broken_at_two = [&](const CalibrationItem& item, int threads) {
    return threads == 2 ? RunOutcome::kWrong : rare(item, threads);
  };
  EXPECT_EQ(Search(broken_at_two, 50, {1, 2, 3, 4}).safe_concurrency, 1);
  EXPECT_EQ(rare.runs[3], kRunsBeyondFailure);
}

TEST(BoundarySearchTest, WhatFailsAloneHasNoSafeNumber) {
  const auto error = [](const CalibrationItem&, int) { return RunOutcome::kError; };
  const ProfileItem found = Search(error, 5, {1, 2, 8});
  EXPECT_EQ(found.safe_concurrency, 0);
  EXPECT_THAT(ThreadsOf(found), ElementsAre(1, 2, 8));
}

TEST(BoundarySearchTest, TellsOutcomesApart) {
  const auto outcome_of = [](RunOutcome outcome) {
    return Search([=](const CalibrationItem&, int) { return outcome; }, 5, {1}).runs[0];
  };
  EXPECT_EQ(outcome_of(RunOutcome::kOk), (RunCounts{.threads = 1, .ok = 5}));
  EXPECT_EQ(outcome_of(RunOutcome::kWrong), (RunCounts{.threads = 1, .wrong = 1}));
  EXPECT_EQ(outcome_of(RunOutcome::kError), (RunCounts{.threads = 1, .error = 1}));
  EXPECT_EQ(outcome_of(RunOutcome::kCrash), (RunCounts{.threads = 1, .crash = 1}));
  EXPECT_EQ(outcome_of(RunOutcome::kHang), (RunCounts{.threads = 1, .hang = 1}));
}

TEST(BoundarySearchTest, InconclusiveRunIsDoneOnceMoreAndThenCountsAsACrash) {
  int runs = 0;
  const auto killed_once = [&](const CalibrationItem&, int) {
    return ++runs == 2 ? RunOutcome::kInconclusive : RunOutcome::kOk;
  };
  EXPECT_EQ(Search(killed_once, 3, {1}).runs[0], (RunCounts{.threads = 1, .ok = 3}));
  EXPECT_EQ(runs, 4);
  const auto killed = [&](const CalibrationItem&, int) { return RunOutcome::kInconclusive; };
  EXPECT_EQ(Search(killed, 3, {1}).runs[0], (RunCounts{.threads = 1, .crash = 1}));
}

TEST(BoundarySearchTest, StopLeavesTheCellUnfinished) {
  std::vector<int> cells;
  int left = 7;
  const BoundarySearch search({.threads = {1, 2, 3}, .repeats = 3},
                              [&](const CalibrationItem&, int) {
                                return --left < 0 ? RunOutcome::kStopped : RunOutcome::kOk;
                              },
                              {.known = {},
                               .on_run = {},
                               .on_cell = [&](const CalibrationItem&, const RunCounts& cell, bool) {
                                 cells.push_back(cell.threads);
                               }});
  EXPECT_EQ(search.Find(kItem), std::nullopt);
  EXPECT_THAT(cells, ElementsAre(1, 2));
}

TEST(BoundarySearchTest, KnownCellsAreNotRunAgain) {
  SimulatedDevice fresh(5, 1, 0);
  const ProfileItem once = Search(std::ref(fresh), 4);
  SimulatedDevice device(5, 1, 0);
  const auto known = [&](const CalibrationItem& item, int threads) -> const RunCounts* {
    EXPECT_EQ(item, kItem);
    for (const RunCounts& cell : once.runs) {
      if (cell.threads == threads && threads != 3) return &cell;
    }
    return nullptr;
  };
  EXPECT_EQ(Search(std::ref(device), 4, DefaultThreads(31),
                   {.known = known, .on_run = {}, .on_cell = {}}),
            once);
  EXPECT_EQ(device.runs, (std::map<int, int>{{3, 4}}));
}

TEST(BoundarySearchTest, KnownCellWithTooFewRunsIsRunAgain) {
  constexpr RunCounts kFew{.threads = 1, .ok = 3};
  SimulatedDevice device(5, 1, 0);
  const auto known = [&](const CalibrationItem&, int) { return &kFew; };
  Search(std::ref(device), 4, {1}, {.known = known, .on_run = {}, .on_cell = {}});
  EXPECT_EQ(device.runs, (std::map<int, int>{{1, 4}}));
}

TEST(DefaultThreadsTest, EndWithTheLargest) {
  EXPECT_THAT(DefaultThreads(1), ElementsAre(1));
  EXPECT_THAT(DefaultThreads(5), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(DefaultThreads(8), ElementsAre(1, 2, 3, 4, 6, 8));
}

TEST(BoundarySearchTest, RefusesNumbersThatDoNotAscendFromOne) {
  const Probe ok = [](const CalibrationItem&, int) { return RunOutcome::kOk; };
  for (const std::vector<int>& bad : {std::vector<int>{}, {2}, {1, 3, 2}}) {
    EXPECT_THROW(BoundarySearch({.threads = bad, .repeats = 1}, ok, {}), std::invalid_argument);
  }
}

}  // namespace
}  // namespace millrace::runtime
