#include "server/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
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
  s.models = {{"null", 3, "infer", 7, 0.25, 1.5, false, 50},
              {"joe", 1, "synthesis", 0, 0, 0, true, 0}};
  s.failed_models = {"broken", "joe"};
  s.model_load_failures_total = 5;
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
  s.connections = {.open = 15,
                   .refused = 16,
                   .made_room = 17,
                   .abuse = {{"headers", 18}, {"resets", 19}, {"control_frames", 20}}};
  s.incomplete_calls_refused_total = 21;
  s.http_refused_total = {{404, 57}};
  s.grpc_refused_total = {{"UNAUTHENTICATED", 58}};
  s.web_sockets = {.open = 22, .opened_total = 23};
  s.idle_models = {.unloaded_idle = 51,
                   .unloaded_for_memory = 52,
                   .loads = 53,
                   .failed_loads = 54,
                   .load_seconds = 5.5,
                   .waiting = 56};
  s.traces = {.queued = 24,
              .exported_total = 25,
              .queue_full = 26,
              .too_many = 27,
              .export_failed = 28,
              .rejected = 29};
  s.keys = {{.name = "app",
             .requests_total = 30,
             .refused_total = {{"requests", 31}},
             .characters_total = 32,
             .audio_seconds_total = 33,
             .worker_seconds_total = 34,
             .requests_in_flight = 35}};
  s.shapes = {.compiled = 11, .eager = 12, .refused_frozen = 13, .refused_limit = 14};
  s.worker_caches = {{0, 31, 32, 33, 34}, {2, 41, 42, 43, 44}};
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

// One request of each kind that the method calls, with all that it can count.
void CountOne(ModelMetrics& model, Method method) {
  model.batch_size.Observe(1);
  model.compute_seconds.Observe(0.1);
  model.permit_wait_seconds.Observe(0);
  model.helped_seconds.Increment(0.05);
  model.queue_seconds.Observe(0.01);
  if (TaskOf(method) == models::Task::kSynthesis) {
    model.first_audio_seconds.Observe(0.2);
    model.audio_seconds.Increment(2);
  }
  if (TaskOf(method) == models::Task::kTranslation) {
    model.source_tokens.Increment(3);
    model.target_tokens.Increment(4);
  }
  if (TaskOf(method) != models::Task::kInfer) model.characters.Increment(10);
  model.CountRequest(method, absl::StatusCode::kOk, std::chrono::milliseconds(200));
}

class MetricsTest : public ::testing::Test {
 protected:
  // A model of each task that has answered a request of each of its methods.
  void CountAll() {
    for (size_t m = 0; m < kMethods; ++m) {
      const auto method = static_cast<Method>(m);
      const models::Task task = TaskOf(method);
      CountOne(*metrics_.ForModel(std::string(ToString(task)), task), method);
    }
  }
  size_t CountSeries() const {
    const std::string page = metrics_.Text();
    const std::regex sample("(^|\n)[a-z_]+[ {]");
    return static_cast<size_t>(
        std::distance(std::sregex_iterator(page.begin(), page.end(), sample), {}));
  }

  Metrics metrics_{{.version = "1.2.3",
                    .libtorch = "2.15.0",
                    .device = "cpu",
                    .mode = "parallel",
                    .cpu_isa = "avx2"}};
};

TEST_F(MetricsTest, EverySeriesOfTheDashboardAndTheAlertsExists) {
  CountAll();
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
  EXPECT_THAT(metrics_.Text(),
              HasSubstr("millrace_build_info{cpu_isa=\"avx2\",device=\"cpu\",libtorch=\"2.15.0\","
                        "mode=\"parallel\",version=\"1.2.3\"} 1"));
}

TEST_F(MetricsTest, BuildInfoTellsOfAPatchedLibtorch) {
  BuildInfo build;
  build.mode = "parallel";
  build.mps_patch_level = 1;
  EXPECT_THAT(Metrics(build).Text(), HasSubstr("mode=\"parallel\",mps_patch=\"1\",version="));
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
        "millrace_worker_graph_cache_entries{worker=\"0\"} 31\n",
        "millrace_worker_graph_cache_hits_total{worker=\"0\"} 32\n",
        "millrace_worker_graph_cache_misses_total{worker=\"0\"} 33\n",
        "millrace_worker_compiled_shapes{worker=\"0\"} 34\n",
        "millrace_worker_graph_cache_entries{worker=\"2\"} 41\n",
        "millrace_worker_graph_cache_hits_total{worker=\"2\"} 42\n",
        "millrace_worker_graph_cache_misses_total{worker=\"2\"} 43\n",
        "millrace_worker_compiled_shapes{worker=\"2\"} 44\n",
        "millrace_connections 15\n",
        "millrace_connections_closed_total{reason=\"refused\"} 16\n",
        "millrace_connections_closed_total{reason=\"made_room\"} 17\n",
        "millrace_connections_closed_total{reason=\"headers\"} 18\n",
        "millrace_connections_closed_total{reason=\"resets\"} 19\n",
        "millrace_connections_closed_total{reason=\"control_frames\"} 20\n",
        "millrace_websockets 22\n",
        "millrace_websockets_opened_total 23\n",
        "millrace_incomplete_calls_refused_total 21\n",
        "millrace_http_refused_total{status=\"404\"} 57\n",
        "millrace_grpc_refused_total{code=\"UNAUTHENTICATED\"} 58\n",
        "millrace_queue_depth{model=\"null\"} 7\n",
        "millrace_queue_depth{model=\"joe\"} 0\n",
        "millrace_queue_oldest_seconds{model=\"null\"} 0.25\n",
        "millrace_queue_oldest_seconds{model=\"joe\"} 0\n",
        "millrace_expected_wait_seconds{model=\"null\"} 1.5\n",
        "millrace_expected_wait_seconds{model=\"joe\"} 0\n",
        "millrace_model_load_failures_total 5\n",
        "millrace_model_load_failed{model=\"broken\"} 1\n",
        "millrace_model_load_failed{model=\"joe\"} 1\n",
        "millrace_model_load_failed{model=\"null\"} 0\n",
        "millrace_models_ready{model=\"null\",version=\"3\",task=\"infer\"} 1\n",
        "millrace_models_ready{model=\"joe\",version=\"1\",task=\"synthesis\"} 1\n",
        "millrace_model_idle{model=\"null\"} 0\n",
        "millrace_model_idle{model=\"joe\"} 1\n",
        "millrace_model_memory_bytes{model=\"null\"} 50\n",
        "millrace_model_memory_bytes{model=\"joe\"} 0\n",
        "millrace_model_unloads_total{reason=\"idle\"} 51\n",
        "millrace_model_unloads_total{reason=\"memory\"} 52\n",
        "millrace_model_loads_on_demand_total{outcome=\"ok\"} 53\n",
        "millrace_model_loads_on_demand_total{outcome=\"failed\"} 54\n",
        "millrace_model_load_on_demand_seconds_total 5.5\n",
        "millrace_requests_waiting_for_load 56\n"})
    EXPECT_THAT(page, HasSubstr(line));

  now.requests_in_flight = 12;
  now.ready = false;
  now.models.clear();
  now.worker_caches.clear();
  page = metrics_.Text();
  EXPECT_THAT(page, HasSubstr("millrace_requests_in_flight 12\n"));
  EXPECT_THAT(page, HasSubstr("millrace_server_ready 0\n"));
  EXPECT_THAT(page, Not(HasSubstr("millrace_queue_depth{")));
  EXPECT_THAT(page, Not(HasSubstr("millrace_worker_")));
}

TEST_F(MetricsTest, CountsWhatHasEndedOverAllModels) {
  EXPECT_EQ(metrics_.CountEnded().all, 0);
  const auto count = [this](const char* model, Method method, absl::StatusCode code) {
    metrics_.ForModel(model)->CountRequest(method, code, std::chrono::seconds(1));
  };
  count("null", Method::kModelInfer, absl::StatusCode::kOk);
  count("null", Method::kHttpInfer, absl::StatusCode::kResourceExhausted);
  count("joe", Method::kSynthesize, absl::StatusCode::kInternal);
  count("", Method::kTranslate, absl::StatusCode::kNotFound);
  count("", Method::kTranslate, absl::StatusCode::kCancelled);
  EXPECT_EQ(metrics_.CountEnded().all, 5);
  EXPECT_EQ(metrics_.CountEnded().failed, 2);
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
TEST_F(MetricsTest, WhatIsAlertedOnStartsAtZero) {
  metrics_.ForModel("null", models::Task::kInfer);
  const std::string page = metrics_.Text();
  EXPECT_THAT(page, HasSubstr("millrace_requests_total{code=\"INTERNAL\",method=\"ModelInfer\","
                              "model=\"null\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("millrace_requests_refused_total{model=\"null\","
                              "reason=\"queue_full\"} 0\n"));
}

TEST_F(MetricsTest, EveryCodeOfAnAlertStartsAtZero) {
  metrics_.ForModel("null", models::Task::kInfer);
  const std::string page = metrics_.Text();
  const std::string alerts = ReadSource("deploy/prometheus/alerts.yml");
  std::set<std::string> codes;
  for (const std::string& list : Matches(alerts, "code=~?\"([A-Z_|]+)\"", 1))
    codes.merge(Matches(list, "[A-Z_]+", 0));
  EXPECT_GE(codes.size(), 4U);
  codes.insert("OK");
  EXPECT_EQ(Matches(page, "code=\"([A-Z_]+)\"", 1), codes);
}

TEST_F(MetricsTest, AModelHasTheSeriesOfItsTaskAlone) {
  metrics_.ForModel("voice", models::Task::kSynthesis);
  std::string page = metrics_.Text();
  EXPECT_EQ(Matches(page, "method=\"([A-Za-z]+)\",model=\"voice\"", 1),
            (std::set<std::string>{"Synthesize", "StreamSynthesize", "SynthesizeTextStream",
                                   "HttpSpeech", "WyomingSpeech", "WyomingTextStream",
                                   "RivaSynthesize", "RivaSynthesizeOnline", "ElevenLabsTextStream",
                                   "VllmOmniTextStream"}));
  EXPECT_THAT(page, HasSubstr("millrace_audio_seconds_total{model=\"voice\"} 0\n"));
  EXPECT_THAT(page, Not(HasSubstr("millrace_tokens_total{")));
  // Another version of it may do something else.
  metrics_.ForModel("voice", models::Task::kTranslation);
  page = metrics_.Text();
  EXPECT_THAT(page, HasSubstr("method=\"Translate\",model=\"voice\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("method=\"Synthesize\",model=\"voice\"} 0\n"));
}

TEST_F(MetricsTest, ACodeAppearsWhenItOccurs) {
  const auto model = metrics_.ForModel("null", models::Task::kInfer);
  EXPECT_THAT(metrics_.Text(), Not(HasSubstr("NOT_FOUND")));
  model->CountRequest(Method::kModelInfer, absl::StatusCode::kNotFound,
                      std::chrono::milliseconds(1));
  EXPECT_THAT(metrics_.Text(), HasSubstr("millrace_requests_total{code=\"NOT_FOUND\",method="
                                         "\"ModelInfer\",model=\"null\"} 1\n"));
}

// A request that reached no model may have asked for anything.
TEST_F(MetricsTest, WithoutAModelAllAppearsWhenItOccurs) {
  const auto none = metrics_.ForModel("");
  EXPECT_THAT(metrics_.Text(), Not(HasSubstr("millrace_requests_total{")));
  none->CountRequest(Method::kTranslate, absl::StatusCode::kNotFound, std::chrono::milliseconds(1));
  EXPECT_EQ(Matches(metrics_.Text(), "millrace_requests_total\\{([^}]*)\\}", 1),
            (std::set<std::string>{"code=\"NOT_FOUND\",method=\"Translate\",model=\"\""}));
}

TEST_F(MetricsTest, SeriesAreFew) {
  metrics_.ForModel("");
  metrics_.ForModel("null", models::Task::kInfer);
  for (const char* name : {"en-pt", "pt-en"}) metrics_.ForModel(name, models::Task::kTranslation);
  for (const char* name : {"joe", "kokoro"}) metrics_.ForModel(name, models::Task::kSynthesis);
  EXPECT_LE(CountSeries(), 680U);
  for (size_t m = 0; m < kMethods; ++m) {
    const auto method = static_cast<Method>(m);
    const auto task = TaskOf(method);
    const char* const name = task == models::Task::kInfer         ? "null"
                             : task == models::Task::kTranslation ? "en-pt"
                                                                  : "joe";
    CountOne(*metrics_.ForModel(name, task), method);
  }
  EXPECT_LE(CountSeries(), 1064U);
}

TEST_F(MetricsTest, TimesAreToldUpToTheLongestRequest) {
  const auto bounds = [](std::chrono::milliseconds longest) {
    Metrics metrics(BuildInfo{}, longest);
    metrics.ForModel("m")->CountRequest(Method::kTranslate, absl::StatusCode::kOk,
                                        std::chrono::milliseconds(1));
    const std::string page = metrics.Text();
    return Matches(page, "millrace_request_duration_seconds_bucket\\{[^}]*le=\"([^\"]*)\"", 1);
  };
  const std::set<std::string> usual = bounds(std::chrono::minutes(5));
  EXPECT_TRUE(usual.contains("300") && usual.contains("120") && !usual.contains("900"));
  const std::set<std::string> longer = bounds(std::chrono::hours(24));
  EXPECT_TRUE(longer.contains("86400") && longer.contains("3600"));
  const std::set<std::string> shorter = bounds(std::chrono::milliseconds(1500));
  EXPECT_TRUE(shorter.contains("1.5") && shorter.contains("1") && !shorter.contains("2.5"));
}

// Wherever among the labels the name is.
TEST_F(MetricsTest, LettersOfANameThatThePageReservesAreEscaped) {
  metrics_.ForModel("a\"b\\c\nd", models::Task::kTranslation);
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
  EXPECT_LE(Matches(page, "reason=\"([^\"]*)\"", 1).size(), 7U);
  EXPECT_EQ(Matches(page, "model=\"([^\"]*)\"", 1), (std::set<std::string>{"", "null"}));
}

}  // namespace
}  // namespace millrace::server
