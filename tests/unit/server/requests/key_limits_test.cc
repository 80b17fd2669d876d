// The limits of a key hold for requests of each kind.

#include "server/limits/key_limits.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "tests/fakes/fake_clock.h"
#include "tests/unit/server/requests/exchange.h"

namespace millrace::server {
namespace {

using absl::StatusCode;

Policy OneTier(Tier tier) {
  Policy policy;
  policy.tiers.push_back(std::move(tier));
  return policy;
}

class RequestLimitTest : public ::testing::TestWithParam<Kind> {
 protected:
  bool speaks() const { return TaskOf(GetParam().method) == models::Task::kSynthesis; }

  testing::FakeClock clock_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, RequestLimitTest, ::testing::ValuesIn(AllKinds()), NameOf);

TEST_P(RequestLimitTest, RequestBeyondTheLimitIsRefused) {
  KeyLimits limits(OneTier({.name = "t", .requests_per_minute = 1}), clock_);
  World world(GetParam(), World::DefaultHooks(), {.limits = &limits});
  EXPECT_EQ(world.NewExchange()->Run(), absl::OkStatus());
  world.AwaitQuiet();
  EXPECT_EQ(world.NewExchange()->Run().code(), StatusCode::kResourceExhausted);
  world.AwaitQuiet();
  clock_.Advance(std::chrono::minutes(1));
  EXPECT_EQ(world.NewExchange()->Run(), absl::OkStatus());
  world.AwaitQuiet();
  EXPECT_EQ(world.Ended(StatusCode::kOk), 2);
  EXPECT_EQ(world.Ended(), 3);
}

TEST_P(RequestLimitTest, WhatIsUsedIsCounted) {
  KeyLimits limits(OneTier({.name = "t"}), clock_);
  World world(GetParam(), World::DefaultHooks(), {.limits = &limits});
  EXPECT_EQ(world.NewExchange()->Run(), absl::OkStatus());
  world.AwaitQuiet();
  const auto usage = limits.Usage();
  ASSERT_EQ(usage.size(), 1U);
  EXPECT_EQ(usage[0].key, "");
  EXPECT_EQ(usage[0].requests, 1U);
  EXPECT_EQ(usage[0].in_flight, 0);
  EXPECT_EQ(usage[0].characters > 0, TaskOf(GetParam().method) != models::Task::kInfer);
  EXPECT_EQ(usage[0].audio_seconds > 0, speaks());
  const std::vector<double> seconds = world.backend.scheduler.key_seconds();
  ASSERT_EQ(seconds.size(), 2U);
  EXPECT_GT(seconds[1], 0);
}

TEST_P(RequestLimitTest, RequestThatTheServerRefusesCostsNothing) {
  KeyLimits limits(OneTier({.name = "t", .requests_per_minute = 1}), clock_);
  World world(GetParam(),
              {.complete =
                   [refuse = std::make_shared<bool>(true)](models::Request& request) {
                     if (std::exchange(*refuse, false)) {
                       request.Finish(absl::ResourceExhaustedError("no room"));
                     } else {
                       Steps()(request);
                     }
                   }},
              {.limits = &limits});
  EXPECT_EQ(world.NewExchange()->Run().code(), StatusCode::kResourceExhausted);
  world.AwaitQuiet();
  EXPECT_EQ(world.NewExchange()->Run(), absl::OkStatus());
  world.AwaitQuiet();
}

}  // namespace
}  // namespace millrace::server
