#include "server/control/idle_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <vector>

namespace millrace::server {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Loaded = IdlePolicy::Loaded;
using Unload = IdlePolicy::Unload;

constexpr auto kIdle = IdlePolicy::Reason::kIdle;
constexpr auto kMemory = IdlePolicy::Reason::kMemory;
constexpr TimePoint kNow = TimePoint(seconds(1000));

Loaded UsedBefore(seconds ago, uint64_t bytes, bool in_use = false) {
  return {.bytes = bytes, .last_used = kNow - ago, .in_use = in_use};
}

TEST(IdlePolicyTest, DoesNothingUnlessItIsAskedTo) {
  const IdlePolicy policy({});
  EXPECT_FALSE(policy.enabled());
  const std::vector<Loaded> models = {UsedBefore(seconds(900), 1'000'000)};
  EXPECT_THAT(policy.Now(models, kNow).unload, IsEmpty());
  const auto plan = policy.BeforeLoad(models, std::numeric_limits<uint64_t>::max());
  EXPECT_THAT(plan.unload, IsEmpty());
  EXPECT_TRUE(plan.fits);
}

TEST(IdlePolicyTest, UnloadsWhatWasIdleForSoLongTheLongestFirst) {
  const IdlePolicy policy({.unload_after = seconds(60)});
  EXPECT_TRUE(policy.enabled());
  EXPECT_THAT(policy
                  .Now({UsedBefore(seconds(60), 1), UsedBefore(seconds(59), 1),
                        UsedBefore(seconds(61), 1), UsedBefore(seconds(99), 1, /*in_use=*/true)},
                       kNow)
                  .unload,
              ElementsAre(Unload{2, kIdle}, Unload{0, kIdle}));
}

TEST(IdlePolicyTest, UnloadsTheLeastRecentlyUsedWhileTheSumIsAboveTheBudget) {
  const IdlePolicy policy({.memory_budget = 100});
  EXPECT_TRUE(policy.enabled());
  const std::vector<Loaded> fit = {UsedBefore(seconds(5), 40), UsedBefore(seconds(9), 60)};
  EXPECT_THAT(policy.Now(fit, kNow).unload, IsEmpty());
  const std::vector<Loaded> more = {UsedBefore(seconds(5), 40), UsedBefore(seconds(9), 60),
                                    UsedBefore(seconds(1), 41)};
  EXPECT_THAT(policy.Now(more, kNow).unload, ElementsAre(Unload{1, kMemory}));
}

TEST(IdlePolicyTest, ModelInUseStaysAboveTheBudget) {
  const IdlePolicy policy({.memory_budget = 100});
  EXPECT_THAT(policy
                  .Now({UsedBefore(seconds(9), 90, true), UsedBefore(seconds(5), 90, true),
                        UsedBefore(seconds(1), 10)},
                       kNow)
                  .unload,
              ElementsAre(Unload{2, kMemory}));
}

TEST(IdlePolicyTest, LastModelStaysEvenIfItExceedsTheBudgetAlone) {
  const IdlePolicy policy({.memory_budget = 100});
  EXPECT_THAT(policy.Now({UsedBefore(seconds(9), 500), UsedBefore(seconds(1), 500)}, kNow).unload,
              ElementsAre(Unload{0, kMemory}));
  EXPECT_THAT(policy.Now({UsedBefore(seconds(1), 500)}, kNow).unload, IsEmpty());
}

TEST(IdlePolicyTest, IdleModelsGoBeforeTheBudgetIsLookedAt) {
  const IdlePolicy policy({.unload_after = seconds(60), .memory_budget = 100});
  EXPECT_THAT(policy
                  .Now({UsedBefore(seconds(5), 50), UsedBefore(seconds(70), 50),
                        UsedBefore(seconds(9), 50)},
                       kNow)
                  .unload,
              ElementsAre(Unload{1, kIdle}));
}

TEST(IdlePolicyTest, ModelToBeLoadedCounts) {
  const IdlePolicy policy({.memory_budget = 100});
  const std::vector<Loaded> models = {UsedBefore(seconds(5), 40), UsedBefore(seconds(9), 30),
                                      UsedBefore(seconds(7), 30)};
  EXPECT_THAT(policy.BeforeLoad(models, 30).unload, ElementsAre(Unload{1, kMemory}));
  const auto plan = policy.BeforeLoad(models, 31);
  EXPECT_THAT(plan.unload, ElementsAre(Unload{1, kMemory}, Unload{2, kMemory}));
  EXPECT_TRUE(plan.fits);
}

TEST(IdlePolicyTest, ModelThatExceedsTheBudgetIsLoadedAlone) {
  const IdlePolicy policy({.memory_budget = 100});
  const auto plan =
      policy.BeforeLoad({UsedBefore(seconds(5), 1)}, std::numeric_limits<uint64_t>::max());
  EXPECT_THAT(plan.unload, ElementsAre(Unload{0, kMemory}));
  EXPECT_TRUE(plan.fits);
  EXPECT_FALSE(policy.BeforeLoad({UsedBefore(seconds(5), 1, true)}, 101).fits);
}

TEST(IdlePolicyTest, ModelsInUseMayLeaveNoRoom) {
  const IdlePolicy policy({.memory_budget = 100});
  EXPECT_FALSE(policy.BeforeLoad({UsedBefore(seconds(9), 60, true)}, 41).fits);
  EXPECT_TRUE(policy.BeforeLoad({UsedBefore(seconds(9), 60, true)}, 40).fits);
}

}  // namespace
}  // namespace millrace::server
