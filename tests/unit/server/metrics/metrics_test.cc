#include "server/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace millrace::server {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Snapshot Everything() {
  Snapshot s;
  s.models = {{"null", 3, "infer", 7}, {"joe", 1, "synthesis", 0}};
  s.ready = true;
  s.requests_in_flight = 11;
  s.permits = 4;
  s.permits_in_use = 2;
  s.streams_leased = 5;
  s.stream_leases_total = 6;
  s.stream_lease_refusals_total = 1;
  s.graph_cache_entries = 8;
  s.graph_cache_bytes = 9;
  s.graph_cache_hits_total = 100;
  s.graph_cache_misses_total = 20;
  s.graph_cache_evictions_total = 3;
  s.shapes = {.compiled = 11, .eager = 12, .refused_frozen = 13, .refused_limit = 14};
  return s;
}

std::set<std::string> Matches(const std::string& text, const std::string& pattern, int group) {
  const std::regex regex(pattern);
  std::set<std::string> found;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), regex);
       it != std::sregex_iterator(); ++it)
    found.insert((*it)[group]);
  return found;
}

// Names of all samples of a page, histograms with their _bucket, _sum and _count.
std::set<std::string> Samples(const std::string& page) {
  return Matches(page, "(?:^|\n)([a-z_]+)[ {]", 1);
}

std::string ReadSource(const std::string& path) {
  std::ifstream file(std::string(MILLRACE_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class MetricsTest : public ::testing::Test {
 protected:
  Metrics metrics_{{.version = "1.2.3", .libtorch = "2.15.0", .device = "cpu", .mode = "parallel"}};
};

TEST_F(MetricsTest, EverySeriesOfTheDashboardAndTheAlertsExists) {
  metrics_.ForModel("null");
  metrics_.SetSnapshot(Everything);
  const std::set<std::string> samples = Samples(metrics_.Text());
  for (const char* path : {"deploy/grafana/millrace.json", "deploy/prometheus/alerts.yml"}) {
    const std::set<std::string> used = Matches(ReadSource(path), "\\b(millrace_[a-z_]+)[{\\[ ]", 1);
    EXPECT_GT(used.size(), 5U) << path;
    for (const std::string& name : used)
      EXPECT_TRUE(samples.contains(name)) << path << ": " << name;
  }
}

TEST_F(MetricsTest, EveryFamilyIsOnTheDashboard) {
  metrics_.ForModel("null");
  metrics_.SetSnapshot(Everything);
  const std::string dashboard = ReadSource("deploy/grafana/millrace.json");
  for (const std::string& family : Matches(metrics_.Text(), "# TYPE (millrace_[a-z_]+)", 1))
    EXPECT_THAT(dashboard, HasSubstr(family));
}

TEST_F(MetricsTest, NamesCarryTheirUnits) {
  metrics_.ForModel("null");
  metrics_.SetSnapshot(Everything);
  const std::string page = metrics_.Text();
  for (const std::string& counter : Matches(page, "# TYPE ([a-z_]+) counter", 1))
    EXPECT_TRUE(counter.ends_with("_total")) << counter;
  for (const std::string& histogram : Matches(page, "# TYPE ([a-z_]+) histogram", 1))
    EXPECT_TRUE(histogram.ends_with("_seconds") || histogram == "millrace_batch_size") << histogram;
  for (const std::string& gauge : Matches(page, "# TYPE ([a-z_]+) gauge", 1))
    EXPECT_FALSE(gauge.ends_with("_total")) << gauge;
}

TEST_F(MetricsTest, BuildInfoTellsWhatRuns) {
  EXPECT_THAT(metrics_.Text(), HasSubstr("millrace_build_info{device=\"cpu\",libtorch=\"2.15.0\","
                                         "mode=\"parallel\",version=\"1.2.3\"} 1"));
}

TEST_F(MetricsTest, GaugesShowTheSnapshotOfTheScrape) {
  Snapshot now = Everything();
  metrics_.SetSnapshot([&now] { return now; });
  std::string page = metrics_.Text();
  for (const char* line :
       {"millrace_server_ready 1\n",
        "millrace_requests_in_flight 11\n",
        "millrace_permits 4\n",
        "millrace_permits_in_use 2\n",
        "millrace_streams_leased 5\n",
        "millrace_stream_leases_total 6\n",
        "millrace_stream_lease_refusals_total 1\n",
        "millrace_graph_cache_entries 8\n",
        "millrace_graph_cache_bytes 9\n",
        "millrace_graph_cache_hits_total 100\n",
        "millrace_graph_cache_misses_total 20\n",
        "millrace_graph_cache_evictions_total 3\n",
        "millrace_compiled_shapes 11\n",
        "millrace_graph_cache_new_shapes_total{outcome=\"eager\"} 12\n",
        "millrace_graph_cache_new_shapes_total{outcome=\"refused_frozen\"} 13\n",
        "millrace_graph_cache_new_shapes_total{outcome=\"refused_limit\"} 14\n",
        "millrace_queue_depth{model=\"null\"} 7\n",
        "millrace_queue_depth{model=\"joe\"} 0\n",
        "millrace_models_ready{model=\"null\",version=\"3\",task=\"infer\"} 1\n",
        "millrace_models_ready{model=\"joe\",version=\"1\",task=\"synthesis\"} 1\n"})
    EXPECT_THAT(page, HasSubstr(line));

  now.requests_in_flight = 12;
  now.ready = false;
  now.models.clear();
  page = metrics_.Text();
  EXPECT_THAT(page, HasSubstr("millrace_requests_in_flight 12\n"));
  EXPECT_THAT(page, HasSubstr("millrace_server_ready 0\n"));
  EXPECT_THAT(page, Not(HasSubstr("millrace_queue_depth{")));
}

TEST_F(MetricsTest, WithoutASnapshotTheGaugesAreMissing) {
  EXPECT_THAT(metrics_.Text(), Not(HasSubstr("millrace_requests_in_flight")));
  EXPECT_THAT(metrics_.Text(), HasSubstr("process_resident_memory_bytes"));
  metrics_.SetSnapshot(Everything);
  EXPECT_THAT(metrics_.Text(), HasSubstr("millrace_requests_in_flight"));
  metrics_.SetSnapshot(nullptr);
  EXPECT_THAT(metrics_.Text(), Not(HasSubstr("millrace_requests_in_flight")));
}

TEST_F(MetricsTest, OneSetOfMetricsForAName) {
  const auto first = metrics_.ForModel("null");
  first->characters.Increment(3);
  metrics_.ForModel("null")->characters.Increment(4);
  metrics_.ForModel("other")->characters.Increment(1);
  const std::string page = metrics_.Text();
  EXPECT_THAT(page, HasSubstr("millrace_characters_total{model=\"null\"} 7\n"));
  EXPECT_THAT(page, HasSubstr("millrace_characters_total{model=\"other\"} 1\n"));
}

TEST_F(MetricsTest, CountsOfAnUnloadedModelStay) {
  metrics_.ForModel("null")->characters.Increment(5);  // the last holder lets go here
  EXPECT_THAT(metrics_.Text(), HasSubstr("millrace_characters_total{model=\"null\"} 5\n"));
}

// Rates need the zero before the first event.
TEST_F(MetricsTest, SeriesOfAModelStartAtZero) {
  metrics_.ForModel("null");
  const std::string page = metrics_.Text();
  EXPECT_THAT(page, HasSubstr("millrace_requests_total{code=\"INTERNAL\",method=\"ModelInfer\","
                              "model=\"null\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("millrace_requests_refused_total{model=\"null\","
                              "reason=\"queue_full\"} 0\n"));
}

// Wherever among the labels the name is.
TEST_F(MetricsTest, LettersOfANameThatThePageReservesAreEscaped) {
  metrics_.ForModel("a\"b\\c\nd");
  const std::string page = metrics_.Text();
  EXPECT_THAT(page, HasSubstr("millrace_characters_total{model=\"a\\\"b\\\\c\\nd\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("millrace_requests_refused_total{model=\"a\\\"b\\\\c\\nd\","
                              "reason=\"draining\"} 0\n"));
}

TEST_F(MetricsTest, LabelValuesAreBounded) {
  const auto model = metrics_.ForModel("null");
  metrics_.ForModel("");
  for (int code = -1; code < 100; ++code) {
    model->CountRequest(Method::kModelInfer, static_cast<absl::StatusCode>(code),
                        std::chrono::milliseconds(1));
  }
  const std::string page = metrics_.Text();
  EXPECT_LE(Matches(page, "code=\"([^\"]*)\"", 1).size(), 17U);
  EXPECT_LE(Matches(page, "method=\"([^\"]*)\"", 1).size(), kMethods);
  EXPECT_LE(Matches(page, "reason=\"([^\"]*)\"", 1).size(), 3U);
  EXPECT_EQ(Matches(page, "model=\"([^\"]*)\"", 1), (std::set<std::string>{"", "null"}));
}

}  // namespace
}  // namespace millrace::server
