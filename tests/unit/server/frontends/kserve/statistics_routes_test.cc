#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "httplib.h"
#include "nlohmann/json.hpp"
#include "server/frontends/kserve/model_statistics.h"
#include "tests/fakes/http_client.h"
#include "tests/fakes/open_keys.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

using nlohmann::json;
using std::chrono::nanoseconds;

class StatisticsRoutesTest : public ::testing::Test {
 protected:
  void Start(TestBackend::Options options = {}) {
    backend_ = std::make_unique<TestBackend>(options);
    models::ModelInfo info = InferInfo("null");
    info.version = 3;
    info.batching.max_batch = 8;
    null_ = backend_->Add(std::move(info), {});
    backend_->Add(VoiceInfo("joe"), {});
    HttpServer::Options http;
    http.address = "127.0.0.1:0";
    http_ = std::make_unique<HttpServer>(http);
    AddStatisticsRoutes(*http_, backend_->services());
    ASSERT_TRUE(http_->Start().ok());
  }
  std::pair<int, json> Get(const std::string& path, const httplib::Headers& headers = {}) {
    const auto result = testing::HttpClient(http_->port()).Get(path, headers);
    if (!result) return {0, nullptr};
    EXPECT_EQ(result->get_header_value("Content-Type"), "application/json");
    return {result->status, json::parse(result->body)};
  }

  std::unique_ptr<TestBackend> backend_;
  std::shared_ptr<ServedModel> null_;
  std::unique_ptr<HttpServer> http_;
};

TEST_F(StatisticsRoutesTest, HaveTritonsMembers) {
  Start();
  const StepTimes times{.permit = nanoseconds(1),
                        .input = nanoseconds(2),
                        .infer = nanoseconds(3),
                        .output = nanoseconds(4)};
  null_->counts().CountStep(5, times, Clock::Real().Now());
  null_->counts().CountSuccess(nanoseconds(100), nanoseconds(50), times);
  null_->counts().CountFailure(nanoseconds(7));
  auto [status, body] = Get("/v2/models/null/stats");
  EXPECT_EQ(status, 200);
  EXPECT_GT(body["model_stats"][0]["last_inference"], 1'700'000'000'000U);
  body["model_stats"][0].erase("last_inference");
  EXPECT_EQ(body, json::parse(R"({"model_stats": [{
      "name": "null", "version": "3", "inference_count": 1, "execution_count": 1,
      "inference_stats": {
        "success": {"count": 1, "ns": 100}, "fail": {"count": 1, "ns": 7},
        "queue": {"count": 1, "ns": 51}, "compute_input": {"count": 1, "ns": 2},
        "compute_infer": {"count": 1, "ns": 3}, "compute_output": {"count": 1, "ns": 4},
        "cache_hit": {"count": 0, "ns": 0}, "cache_miss": {"count": 0, "ns": 0}},
      "batch_stats": [{
        "batch_size": 5, "compute_input": {"count": 1, "ns": 2},
        "compute_infer": {"count": 1, "ns": 3}, "compute_output": {"count": 1, "ns": 4}}]}]})"));
}

TEST_F(StatisticsRoutesTest, AreThoseOfOneModelOrOfAll) {
  Start();
  const auto names = [&](const std::string& path) {
    std::string all;
    const json body = Get(path).second;
    for (const auto& model : body["model_stats"])
      all += std::string(model["name"]) + " " + std::string(model["version"]) + ";";
    return all;
  };
  EXPECT_EQ(names("/v2/models/stats"), "joe 1;null 3;");
  EXPECT_EQ(names("/v2/models/null/stats"), "null 3;");
  EXPECT_EQ(names("/v2/models/null/versions/3/stats"), "null 3;");
  EXPECT_EQ(Get("/v2/models/joe/stats").second["model_stats"][0]["last_inference"], 0);
  EXPECT_EQ(Get("/v2/models/joe/stats").second["model_stats"][0]["batch_stats"], json::array());
  EXPECT_EQ(Get("/v2/models/null/versions/4/stats").first, 404);
  const auto [status, body] = Get("/v2/models/nil/stats");
  EXPECT_EQ(status, 404);
  EXPECT_EQ(body["error"], "model: 'nil' is not loaded; loaded are: joe, null");
}

TEST_F(StatisticsRoutesTest, NeedAKeyWhereKeysAreRequired) {
  const auto keys = testing::OpenKeys({{"ann", Role::kUser, "good"}});
  Start({.keys = keys.get()});
  for (const char* path : {"/v2/models/stats", "/v2/models/null/stats", "/v2/models/nil/stats"})
    EXPECT_EQ(Get(path).first, 401) << path;
  EXPECT_EQ(Get("/v2/models/stats", {{"X-Api-Key", "good"}}).first, 200);
}

}  // namespace
}  // namespace millrace::server
