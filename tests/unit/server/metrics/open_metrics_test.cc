#include "server/metrics/open_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <optional>
#include <string>

#include "server/metrics/metrics.h"

namespace millrace::server {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

prometheus::MetricFamily Counter(const std::string& name, double value) {
  prometheus::ClientMetric metric;
  metric.label = {{"model", "a\"b\\c\nd"}};
  metric.counter.value = value;
  return {name, "Help.", prometheus::MetricType::Counter, {metric}};
}

TEST(OpenMetricsTest, CountersAreNamedWithoutTheirEnding) {
  EXPECT_EQ(OpenMetricsText({{Counter("a_total", 3), {}}}),
            "# TYPE a counter\n# HELP a Help.\na_total{model=\"a\\\"b\\\\c\\nd\"} 3.0\n# EOF\n");
}

TEST(OpenMetricsTest, AnEmptyPageEndsToo) { EXPECT_EQ(OpenMetricsText({}), "# EOF\n"); }

TEST(OpenMetricsTest, BucketsHaveCanonicalBoundsAndExemplars) {
  prometheus::ClientMetric metric;
  metric.histogram.sample_count = 3;
  metric.histogram.sample_sum = 1.25;
  metric.histogram.bucket = {{1, 0.00005}, {1, 0.0001}, {2, 1}, {3, 14400}, {3, INFINITY}};
  const AnnotatedFamily family{{"d", "Help.", prometheus::MetricType::Histogram, {metric}},
                               {{std::nullopt, std::nullopt, Exemplar{"abc", 0.5, 1700000000.25},
                                 std::nullopt, std::nullopt}}};
  EXPECT_EQ(OpenMetricsText({family}),
            "# TYPE d histogram\n# HELP d Help.\n"
            "d_bucket{le=\"5e-05\"} 1\n"
            "d_bucket{le=\"0.0001\"} 1\n"
            "d_bucket{le=\"1.0\"} 2 # {trace_id=\"abc\"} 0.5 1700000000.250\n"
            "d_bucket{le=\"14400.0\"} 3\n"
            "d_bucket{le=\"+Inf\"} 3\n"
            "d_count 3\nd_sum 1.25\n# EOF\n");
}

TEST(OpenMetricsTest, TheWholePageHasThem) {
  Metrics metrics{BuildInfo{}};
  ModelMetrics& model = *metrics.ForModel("m", models::Task::kInfer);
  model.CountRequest(Method::kModelInfer, absl::StatusCode::kOk, std::chrono::milliseconds(3));
  model.SetExemplar(Method::kModelInfer, std::chrono::milliseconds(3), "0123");
  const std::string page = metrics.OpenMetrics();
  EXPECT_THAT(page, StartsWith("# TYPE millrace_requests counter\n"));
  EXPECT_THAT(page, HasSubstr("millrace_request_duration_seconds_bucket{method=\"ModelInfer\","
                              "model=\"m\",le=\"0.005\"} 1 # {trace_id=\"0123\"} 0.003 "));
  EXPECT_THAT(page, EndsWith("# EOF\n"));
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("trace_id")));
}

TEST(OpenMetricsTest, ClientsSayWhatTheyPrefer) {
  EXPECT_TRUE(PrefersOpenMetrics("application/openmetrics-text"));
  EXPECT_TRUE(PrefersOpenMetrics(
      "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1"));
  EXPECT_TRUE(PrefersOpenMetrics("text/plain;q=0.5, Application/OpenMetrics-Text ; q=0.5"));
  EXPECT_FALSE(PrefersOpenMetrics(""));
  EXPECT_FALSE(PrefersOpenMetrics("*/*"));
  EXPECT_FALSE(PrefersOpenMetrics("text/plain"));
  EXPECT_FALSE(PrefersOpenMetrics("application/openmetrics-text;q=0"));
  EXPECT_FALSE(PrefersOpenMetrics("application/openmetrics-text;q=0.4,text/plain;q=0.9"));
  EXPECT_FALSE(PrefersOpenMetrics("application/openmetrics-text;q=x"));
}

}  // namespace
}  // namespace millrace::server
