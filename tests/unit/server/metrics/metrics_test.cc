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

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::set<std::string> Matches(const std::string& text, const std::string& pattern, int group) {
  const std::regex regex(pattern);
  std::set<std::string> found;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), regex);
       it != std::sregex_iterator(); ++it)
    found.insert((*it)[group]);
  return found;
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

TEST_F(MetricsTest, OwnersAreAskedAtEachScrape) {
  EXPECT_THAT(metrics_.Text(), HasSubstr("process_resident_memory_bytes"));
  int in_flight = 11;
  metrics_.AddOwner([&in_flight](MetricWriter& writer) {
    writer.Gauge("millrace_requests_in_flight", "Requests.", in_flight);
  });
  EXPECT_THAT(metrics_.Text(), HasSubstr("millrace_requests_in_flight 11\n"));
  in_flight = 12;
  EXPECT_THAT(metrics_.Text(), HasSubstr("millrace_requests_in_flight 12\n"));
  EXPECT_THAT(metrics_.OpenMetrics(), HasSubstr("millrace_requests_in_flight 12.0\n"));
  metrics_.AddOwner([](MetricWriter& writer) { writer.Gauge("millrace_added", "Added.", 1); });
  EXPECT_THAT(metrics_.Text(), AllOf(HasSubstr("millrace_requests_in_flight 12\n"),
                                     HasSubstr("millrace_added 1\n")));
  metrics_.RemoveOwners();
  EXPECT_THAT(metrics_.Text(),
              Not(AnyOf(HasSubstr("millrace_requests_in_flight"), HasSubstr("millrace_added"))));
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
