#include "server/limits/usage_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace millrace::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string PageOf(const std::vector<KeyUsage>& usage,
                   const std::vector<double>& worker_seconds = {}) {
  MetricWriter writer;
  CollectKeys(usage, worker_seconds, writer);
  return std::move(writer).PrometheusText();
}

TEST(UsageReportTest, HasALabelForEachKeyAndOneForCallersWithoutAKey) {
  KeyUsage ann{.key = "ann", .number = 1, .requests = 3, .characters = 10, .in_flight = 1};
  ann.refused[static_cast<size_t>(KeyLimit::kAudioSeconds)] = 2;
  const std::string page = PageOf({ann, {.key = "", .number = 2, .requests = 5}}, {0, 1.5});
  for (const char* line : {"millrace_key_requests_total{key=\"ann\"} 3\n",
                           "millrace_key_requests_total{key=\"(none)\"} 5\n",
                           "millrace_key_characters_total{key=\"ann\"} 10\n",
                           "millrace_key_worker_seconds_total{key=\"ann\"} 1.5\n",
                           "millrace_key_worker_seconds_total{key=\"(none)\"} 0\n",
                           "millrace_key_requests_in_flight{key=\"ann\"} 1\n",
                           "millrace_key_refused_total{key=\"ann\",limit=\"audio_seconds\"} 2\n",
                           "millrace_key_refused_total{key=\"ann\",limit=\"requests\"} 0\n"})
    EXPECT_THAT(page, HasSubstr(line));
}

TEST(UsageReportTest, NumberOfLabelsIsBounded) {
  std::vector<KeyUsage> usage;
  for (size_t i = 1; i <= kMostKeyLabels; ++i)
    usage.push_back({.key = "key-" + std::to_string(i), .number = i, .requests = 1});
  EXPECT_THAT(PageOf(usage), HasSubstr("millrace_key_requests_total{key=\"key-100\"} 1\n"));
  EXPECT_THAT(PageOf(usage), Not(HasSubstr("(other)")));
  for (size_t i = 0; i < 3; ++i)
    usage.push_back({.key = "more-" + std::to_string(i), .number = 200 + i, .requests = 1});
  EXPECT_THAT(PageOf(usage), HasSubstr("millrace_key_requests_total{key=\"(other)\"} 3\n"));
  EXPECT_THAT(PageOf(usage), Not(HasSubstr("more-")));
}

TEST(UsageReportTest, WithoutAKeyThereIsNoSeries) { EXPECT_EQ(PageOf({}), ""); }

}  // namespace
}  // namespace millrace::server
