#include "server/limits/usage_report.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::server {
namespace {

TEST(UsageReportTest, HasALabelForEachKeyAndOneForCallersWithoutAKey) {
  KeyUsage ann{.key = "ann", .number = 1, .requests = 3, .characters = 10, .in_flight = 1};
  ann.refused[static_cast<size_t>(KeyLimit::kAudioSeconds)] = 2;
  const auto keys = KeyMetrics({ann, {.key = "", .number = 2, .requests = 5}}, {0, 1.5});
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].name, "ann");
  EXPECT_EQ(keys[0].requests_total, 3U);
  EXPECT_EQ(keys[0].worker_seconds_total, 1.5);
  EXPECT_EQ(keys[0].refused_total[2].first, "audio_seconds");
  EXPECT_EQ(keys[0].refused_total[2].second, 2U);
  EXPECT_EQ(keys[0].requests_in_flight, 1);
  EXPECT_EQ(keys[1].name, "(none)");
  EXPECT_EQ(keys[1].worker_seconds_total, 0);
}

TEST(UsageReportTest, NumberOfLabelsIsBounded) {
  std::vector<KeyUsage> usage;
  for (size_t i = 1; i <= kMostKeyLabels; ++i)
    usage.push_back({.key = "key-" + std::to_string(i), .number = i, .requests = 1});
  EXPECT_EQ(KeyMetrics(usage, {}).size(), kMostKeyLabels);
  EXPECT_EQ(KeyMetrics(usage, {}).back().name, usage.back().key);
  for (size_t i = 0; i < 3; ++i)
    usage.push_back({.key = "more-" + std::to_string(i), .number = 200 + i, .requests = 1});
  const auto keys = KeyMetrics(usage, {});
  ASSERT_EQ(keys.size(), kMostKeyLabels + 1);
  EXPECT_EQ(keys.back().name, "(other)");
  EXPECT_EQ(keys.back().requests_total, 3U);
}

}  // namespace
}  // namespace millrace::server
