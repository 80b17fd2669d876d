#include "server/limits/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kGood[] = R"(
default = "standard"
anonymous = "guest"

[tiers.guest]
requests_per_minute = 30
characters_per_minute = 5000
audio_seconds_per_minute = 600
concurrent_requests = 2
priority = "low"

[tiers.standard]

[tiers.paid]
weight = 2.5
priority = "high"
keys = ["ann", "bob@example.org"]
)";

std::string Error(const std::string& text) {
  const absl::StatusOr<Policy> policy = ParsePolicy(text, "limits.toml");
  EXPECT_EQ(policy.status().code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(policy.status().message());
}

// A policy with that line in its only tier.
std::string TierError(const std::string& line) {
  return Error("default = \"a\"\n[tiers.a]\n" + line + "\n");
}

TEST(PolicyTest, TellsTheTierOfEachKey) {
  const absl::StatusOr<Policy> policy = ParsePolicy(kGood, "limits.toml");
  ASSERT_TRUE(policy.ok()) << policy.status();
  const Tier& paid = policy->TierOf("ann");
  EXPECT_EQ(paid.name, "paid");
  EXPECT_EQ(paid.weight, 2.5);
  EXPECT_EQ(paid.priority, Priority::kHigh);
  EXPECT_FALSE(paid.requests_per_minute);
  EXPECT_EQ(&policy->TierOf("bob@example.org"), &paid);
  EXPECT_EQ(policy->TierOf("carol").name, "standard");
  const Tier& guest = policy->TierOf("");
  EXPECT_EQ(guest.requests_per_minute, 30);
  EXPECT_EQ(guest.characters_per_minute, 5000);
  EXPECT_EQ(guest.audio_seconds_per_minute, 600);
  EXPECT_EQ(guest.concurrent_requests, 2U);
  EXPECT_EQ(guest.priority, Priority::kLow);
}

TEST(PolicyTest, CallersWithoutAKeyAreInTheDefaultTierUnlessSaidOtherwise) {
  const auto policy = ParsePolicy("default = \"a\"\n[tiers.a]\n[tiers.b]\n", "f");
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_EQ(policy->TierOf("").name, "a");
}

TEST(PolicyTest, TypoIsNamedWithASuggestion) {
  EXPECT_THAT(TierError("request_per_minute = 3"),
              AllOf(StartsWith("limits.toml:3: tiers.a.request_per_minute: is not a known key"),
                    HasSubstr("did you mean requests_per_minute?")));
  EXPECT_THAT(Error("defualt = \"a\"\n[tiers.a]\n"),
              AllOf(StartsWith("limits.toml:1: defualt: is not a known key"),
                    HasSubstr("did you mean default?")));
}

TEST(PolicyTest, WhereNoKeyIsAlikeTheKnownOnesAreNamed) {
  EXPECT_EQ(Error("keys = 1\n[tiers.a]\n"),
            "limits.toml:1: keys: is not a known key; known are: tiers, default, anonymous");
}

TEST(PolicyTest, NumbersOutOfRangeAreNamedWithTheRange) {
  for (const char* key :
       {"requests_per_minute", "characters_per_minute", "audio_seconds_per_minute"}) {
    for (const char* value : {"0", "-1", "1000000000000000000", "1.5", "true", "[1]"}) {
      EXPECT_THAT(TierError(std::string(key) + " = " + value),
                  AllOf(StartsWith("limits.toml:3: tiers.a." + std::string(key) + ": "),
                        HasSubstr(value[0] == '[' ? "a list" : value),
                        HasSubstr("is not allowed, allowed: a whole number, 1..1000000000")));
    }
  }
  EXPECT_THAT(TierError("concurrent_requests = 0"), HasSubstr("allowed: a whole number, 1..65536"));
  for (const char* value : {"0", "-1", "101", "inf", "nan", "\"2\""})
    EXPECT_THAT(TierError(std::string("weight = ") + value),
                HasSubstr("allowed: a number, 0.01..100"));
  EXPECT_THAT(TierError("requests_per_minute = 1000000000000000000000"),
              StartsWith("limits.toml:3:"));
}

TEST(PolicyTest, OtherValuesAreNamedWithWhatIsAllowed) {
  EXPECT_THAT(TierError("priority = \"highest\""),
              HasSubstr("tiers.a.priority: 'highest' is not allowed, allowed: low, normal, high"));
  EXPECT_THAT(TierError("priority = 1"), HasSubstr("tiers.a.priority: 1 is not allowed"));
  EXPECT_THAT(TierError("keys = \"ann\""), HasSubstr("allowed: a list of names"));
  EXPECT_THAT(TierError("keys = [\"an n\"]"), HasSubstr("'an n' is not allowed, allowed: names"));
  EXPECT_THAT(TierError("keys = [3]"), HasSubstr("3 is not allowed, allowed: names"));
  EXPECT_THAT(TierError("keys = [\"" + std::string(1000, 'a') + "\"]"), HasSubstr("aaa...'"));
}

TEST(PolicyTest, KeyMayBeInOneTierOnly) {
  EXPECT_THAT(Error("default = \"a\"\n[tiers.a]\nkeys = [\"ann\"]\n[tiers.b]\nkeys = [\"ann\"]\n"),
              StartsWith("limits.toml:5: tiers.b.keys: 'ann' is already in tier 'a'"));
}

TEST(PolicyTest, TierThatIsNotThereIsNamedWithASuggestion) {
  EXPECT_THAT(Error("default = \"standart\"\n[tiers.standard]\n"),
              AllOf(StartsWith("limits.toml:1: default: 'standart' is not allowed"),
                    HasSubstr("did you mean standard?")));
  EXPECT_THAT(Error("default = \"a\"\nanonymous = 3\n[tiers.a]\n"),
              StartsWith("limits.toml:2: anonymous: 3 is not allowed"));
}

TEST(PolicyTest, WhatIsMissingIsNamed) {
  EXPECT_THAT(Error(""), StartsWith("limits.toml: tiers: is missing"));
  EXPECT_THAT(Error("[tiers.a]\n"), StartsWith("limits.toml: default: is missing"));
  EXPECT_THAT(Error("tiers = 3\n"), StartsWith("limits.toml:1: tiers: 3 is not allowed"));
  EXPECT_THAT(Error("default = \"a\"\n[tiers]\na = 3\n"),
              StartsWith("limits.toml:3: tiers.a: 3 is not allowed, allowed: a table"));
  EXPECT_THAT(Error("default = \"a\"\n[tiers.\"a b\"]\n"),
              HasSubstr("tiers: 'a b' is not allowed"));
}

TEST(PolicyTest, TextThatIsNoTomlIsNamedWithItsPlace) {
  EXPECT_THAT(Error("default = \n"), StartsWith("limits.toml:1:"));
  EXPECT_THAT(Error("default = \"\xff\"\n"), StartsWith("limits.toml:1:"));
}

}  // namespace
}  // namespace millrace::server
