#include "server/metrics/metric_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "server/metrics/sharded_histogram.h"

namespace millrace::server {
namespace {

TEST(MetricWriterTest, MetricsOfANameAreOneFamilyWhoeverAddsThem) {
  MetricWriter writer;
  for (const char* model : {"a", "b"}) {
    writer.Gauges("depth", "Depth.").Add(1, {{"model", model}});
    writer.Counters("steps_total", "Steps.").Add(uint64_t{2}, {{"model", model}});
  }
  writer.Gauge("ready", "Ready.", true);
  EXPECT_EQ(std::move(writer).PrometheusText(),
            "# HELP depth Depth.\n# TYPE depth gauge\n"
            "depth{model=\"a\"} 1\ndepth{model=\"b\"} 1\n"
            "# HELP steps_total Steps.\n# TYPE steps_total counter\n"
            "steps_total{model=\"a\"} 2\nsteps_total{model=\"b\"} 2\n"
            "# HELP ready Ready.\n# TYPE ready gauge\nready 1\n");
}

TEST(MetricWriterTest, AFamilyWithoutMetricsIsOnPrometheusPageAlone) {
  MetricWriter writer;
  writer.Gauges("depth", "Depth.");
  EXPECT_EQ(writer.OpenMetrics(), "# EOF\n");
  EXPECT_EQ(std::move(writer).PrometheusText(), "# HELP depth Depth.\n# TYPE depth gauge\n");
}

TEST(MetricWriterTest, HistogramsHaveTheirExemplarsInOpenMetricsAlone) {
  ShardedHistogram histogram({0.5});
  histogram.Observe(0.25);
  histogram.SetExemplar(0.25, "abc");
  MetricWriter writer;
  writer.Histograms("took_seconds", "Time.").Add(histogram, {{"model", "a"}});
  EXPECT_NE(writer.OpenMetrics().find(
                "took_seconds_bucket{model=\"a\",le=\"0.5\"} 1 # {trace_id=\"abc\"} 0.25 "),
            std::string::npos);
  const std::string page = std::move(writer).PrometheusText();
  EXPECT_NE(page.find("took_seconds_bucket{model=\"a\",le=\"0.5\"} 1\n"), std::string::npos);
}

}  // namespace
}  // namespace millrace::server
