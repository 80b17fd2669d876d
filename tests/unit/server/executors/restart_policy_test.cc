#include "server/executors/restart_policy.h"

#include <gtest/gtest.h>

#include <chrono>

namespace millrace::server {
namespace {

using std::chrono::seconds;

constexpr RestartPolicy::End kCrash{.started = true, .worked = true, .served = seconds(1)};
constexpr RestartPolicy::End kFailedStart{};
constexpr RestartPolicy::End kKilled{.started = true, .killed = true, .served = seconds(1)};

RestartPolicy MakePolicy() { return RestartPolicy({seconds(0), seconds(1), seconds(2)}); }

TEST(RestartPolicyTest, WaitsLongerAfterEachDeath) {
  RestartPolicy policy = MakePolicy();
  EXPECT_EQ(policy.OnEnd(kCrash), seconds(0));
  EXPECT_EQ(policy.OnEnd(kFailedStart), seconds(1));
  EXPECT_EQ(policy.OnEnd(kCrash), seconds(2));
  EXPECT_EQ(policy.OnEnd(kCrash), seconds(2));
}

TEST(RestartPolicyTest, KillsSayNothingOfTheSuccessor) {
  RestartPolicy policy = MakePolicy();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(policy.OnEnd(kKilled), seconds(0));
  EXPECT_FALSE(policy.one_step_at_a_time());
  EXPECT_EQ(policy.fruitless(), 0);
  policy.OnEnd(kCrash);
  policy.OnEnd(kKilled);
  EXPECT_EQ(policy.OnEnd(kCrash), seconds(1));
}

TEST(RestartPolicyTest, KillsOfThoseThatStartDelayTheirSuccessorsOnly) {
  constexpr RestartPolicy::End kKilledAtStart{.killed = true};
  RestartPolicy policy = MakePolicy();
  EXPECT_EQ(policy.OnEnd(kKilledAtStart), seconds(0));
  EXPECT_EQ(policy.OnEnd(kKilledAtStart), seconds(1));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(policy.OnEnd(kKilledAtStart), seconds(2));
  EXPECT_EQ(policy.fruitless(), 8);
  EXPECT_FALSE(policy.one_step_at_a_time());
  EXPECT_FALSE(policy.falls_back());
  policy.OnEnd({.started = true, .killed = true, .worked = true, .served = seconds(1)});
  EXPECT_EQ(policy.OnEnd(kKilledAtStart), seconds(0));
}

TEST(RestartPolicyTest, RunsOneStepAtATimeAndThenLeavesTheDevice) {
  RestartPolicy policy = MakePolicy();
  for (int deaths = 0; deaths < 8; ++deaths) {
    EXPECT_EQ(policy.one_step_at_a_time(), deaths >= 3) << deaths;
    EXPECT_EQ(policy.falls_back(), deaths >= 6) << deaths;
    policy.OnEnd(kCrash);
  }
  policy.OnEnd({.started = true, .worked = true, .served = RestartPolicy::kForgiven});
  EXPECT_FALSE(policy.one_step_at_a_time());
  EXPECT_EQ(policy.OnEnd(kCrash), seconds(1));
}

TEST(RestartPolicyTest, CountsExecutorsThatCompletedNothing) {
  RestartPolicy policy = MakePolicy();
  policy.OnEnd(kFailedStart);
  policy.OnEnd({.started = true, .served = seconds(60)});
  EXPECT_EQ(policy.fruitless(), 2);
  policy.OnEnd({.started = true, .killed = true, .worked = true, .served = seconds(1)});
  EXPECT_EQ(policy.fruitless(), 0);
}

}  // namespace
}  // namespace millrace::server
