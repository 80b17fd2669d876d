#include "server/frontends/kserve/kserve_routes.h"

#include <gtest/gtest.h>

#include <memory>

#include "httplib.h"
#include "nlohmann/json.hpp"
#include "server/http/http_server.h"
#include "server/requests/server_view.h"
#include "server/security/api_key_store.h"
#include "tests/fakes/http_client.h"
#include "tests/fakes/open_keys.h"

namespace millrace {
namespace {

class FakeView final : public ServerView {
 public:
  std::string Version() const override { return "1.2.3"; }
  bool Live() const override { return live; }
  bool Ready() const override { return ready; }
  std::string Degraded() const override { return degraded; }
  std::vector<ModelStatusView> Models() const override { return models; }
  std::optional<ModelStatusView> FindModel(std::string_view name) const override {
    for (const ModelStatusView& model : models) {
      if (model.info.name == name) return model;
    }
    return std::nullopt;
  }

  bool live = true;
  bool ready = true;
  std::string degraded;
  std::vector<ModelStatusView> models;
};

class KServeRoutesTest : public ::testing::Test {
 protected:
  KServeRoutesTest() {
    ModelStatusView null;
    null.state = ModelState::kReady;
    null.info.name = "null";
    null.info.version = 3;
    null.info.platform = "torchscript";
    null.info.infer().inputs = {{"INPUT0", models::DataType::kFp32, {64}}};
    null.info.infer().outputs = {{"OUTPUT0", models::DataType::kInt64, {-1, 2}}};
    ModelStatusView broken;
    broken.state = ModelState::kFailed;
    broken.error = "bad \xff bytes";
    broken.info.name = "broken";
    view_.models = {broken, null};
  }

  void Start(const ApiKeyStore* keys = nullptr) {
    HttpServer::Options options;
    options.address = "127.0.0.1:0";
    server_ = std::make_unique<HttpServer>(options);
    AddKServeRoutes(*server_, view_, keys);
    ASSERT_TRUE(server_->Start().ok());
  }
  // Status and JSON body.
  std::pair<int, nlohmann::json> Get(const std::string& path,
                                     const httplib::Headers& headers = {}) {
    const auto result = testing::HttpClient(server_->port()).Get(path, headers);
    if (!result) return {0, nullptr};
    EXPECT_EQ(result->get_header_value("Content-Type"), "application/json");
    return {result->status, nlohmann::json::parse(result->body)};
  }

  std::pair<int, nlohmann::json> Post(const std::string& path, const std::string& body,
                                      const httplib::Headers& headers = {}) {
    const auto result =
        testing::HttpClient(server_->port()).Post(path, headers, body, "application/json");
    if (!result) return {0, nullptr};
    return {result->status, nlohmann::json::parse(result->body)};
  }

  FakeView view_;
  std::unique_ptr<HttpServer> server_;
};

using nlohmann::json;

TEST_F(KServeRoutesTest, Health) {
  Start();
  EXPECT_EQ(Get("/v2/health/live"), std::pair(200, json({{"live", true}})));
  EXPECT_EQ(Get("/v2/health/ready"), std::pair(200, json({{"ready", true}})));
  view_.degraded = "1 of 2 executors serve";
  EXPECT_EQ(Get("/v2/health/ready"),
            std::pair(200, json({{"ready", true}, {"degraded", "1 of 2 executors serve"}})));
  view_.degraded = "";
  view_.ready = false;
  EXPECT_EQ(Get("/v2/health/live").first, 200);
  EXPECT_EQ(Get("/v2/health/ready"), std::pair(503, json({{"ready", false}})));
  view_.live = false;
  EXPECT_EQ(Get("/v2/health/live").first, 503);
}

TEST_F(KServeRoutesTest, ServerMetadata) {
  Start();
  EXPECT_EQ(Get("/v2"), std::pair(200, json({{"name", "millrace"},
                                             {"version", "1.2.3"},
                                             {"extensions",
                                              {"binary_tensor_data", "model_configuration",
                                               "model_repository", "statistics"}}})));
}

TEST_F(KServeRoutesTest, ModelListHasStatesAndErrors) {
  Start();
  const auto [status, body] = Get("/v2/models");
  EXPECT_EQ(status, 200);
  ASSERT_EQ(body["models"].size(), 2U);
  EXPECT_EQ(body["models"][0]["state"], "FAILED");
  EXPECT_EQ(body["models"][0]["error"], "bad \xef\xbf\xbd bytes");
  EXPECT_EQ(body["models"][1], json({{"name", "null"}, {"version", "3"}, {"state", "READY"}}));
}

TEST_F(KServeRoutesTest, ModelMetadata) {
  Start();
  const auto [status, body] = Get("/v2/models/null");
  EXPECT_EQ(status, 200);
  EXPECT_EQ(body["name"], "null");
  EXPECT_EQ(body["versions"], json::array({"3"}));
  EXPECT_EQ(body["platform"], "torchscript");
  EXPECT_EQ(body["inputs"],
            json::array({{{"name", "INPUT0"}, {"datatype", "FP32"}, {"shape", {64}}}}));
  EXPECT_EQ(body["outputs"],
            json::array({{{"name", "OUTPUT0"}, {"datatype", "INT64"}, {"shape", {-1, 2}}}}));
  EXPECT_EQ(Get("/v2/models/null/versions/3").second, body);
}

TEST_F(KServeRoutesTest, ModelConfigIsTritons) {
  view_.models.back().info.infer().inputs.push_back({"TEXT", models::DataType::kBytes, {1}});
  Start();
  for (const char* path : {"/v2/models/null/config", "/v2/models/null/versions/3/config"}) {
    EXPECT_EQ(Get(path), std::pair(200, json::parse(R"({
        "name": "null", "platform": "torchscript", "max_batch_size": 0,
        "input": [{"name": "INPUT0", "data_type": "TYPE_FP32", "dims": [64]},
                  {"name": "TEXT", "data_type": "TYPE_STRING", "dims": [1]}],
        "output": [{"name": "OUTPUT0", "data_type": "TYPE_INT64", "dims": [-1, 2]}],
        "model_transaction_policy": {"decoupled": false}})")));
  }
  EXPECT_EQ(Get("/v2/models/broken/config"),
            std::pair(404, json({{"error", "model 'broken' is not loaded"}})));
  EXPECT_EQ(Get("/v2/models/other/config").first, 404);
}

TEST_F(KServeRoutesTest, OfAModelThatIsNotReadyOnlyItsStateIsKnown) {
  Start();
  EXPECT_EQ(Get("/v2/models/broken").second, json({{"name", "broken"},
                                                   {"versions", {"1"}},
                                                   {"state", "FAILED"},
                                                   {"error", "bad \xef\xbf\xbd bytes"}}));
}

TEST_F(KServeRoutesTest, IdleModelTakesRequests) {
  ModelStatusView& null = view_.models[1];
  ASSERT_EQ(null.info.name, "null");
  null.state = ModelState::kIdle;
  Start();
  EXPECT_EQ(Get("/v2/models/null/ready").first, 200);
  EXPECT_EQ(Get("/v2/models/null/config").first, 200);
  EXPECT_TRUE(Get("/v2/models/null").second.contains("inputs"));
  EXPECT_EQ(Get("/v2/models").second["models"][1]["state"], "IDLE");
  EXPECT_EQ(Post("/v2/repository/index", "{\"ready\":true}").second,
            json::array({{{"name", "null"}, {"version", "3"}, {"state", "READY"}}}));
}

TEST_F(KServeRoutesTest, IndexHasTheStatesThatTritonKnows) {
  view_.models.push_back(view_.models.front());
  view_.models.back().state = ModelState::kLoading;
  view_.models.back().error.clear();
  Start();
  const json ready = {{"name", "null"}, {"version", "3"}, {"state", "READY"}};
  const json all = {
      {{"name", "broken"}, {"state", "UNAVAILABLE"}, {"reason", "bad \xef\xbf\xbd bytes"}},
      ready,
      {{"name", "broken"}, {"state", "LOADING"}}};
  for (const char* body : {"", "{}", "{\"ready\":false}"})
    EXPECT_EQ(Post("/v2/repository/index", body), std::pair(200, all)) << body;
  EXPECT_EQ(Post("/v2/repository/index", "{\"ready\":true}"), std::pair(200, json::array({ready})));
  EXPECT_EQ(Post("/v2/repository/index", "{\"ready\":1}"),
            std::pair(400, json({{"error", "ready: must be true or false, not number '1'"}})));
  EXPECT_EQ(Post("/v2/repository/index", "[").first, 400);
}

TEST_F(KServeRoutesTest, ModelReady) {
  Start();
  EXPECT_EQ(Get("/v2/models/null/ready"),
            std::pair(200, json({{"name", "null"}, {"ready", true}})));
  EXPECT_EQ(Get("/v2/models/null/versions/3/ready").first, 200);
  EXPECT_EQ(Get("/v2/models/broken/ready"),
            std::pair(503, json({{"name", "broken"}, {"ready", false}})));
  view_.ready = false;
  EXPECT_EQ(Get("/v2/models/null/ready").first, 503);
}

TEST_F(KServeRoutesTest, UnknownModelsAndHostileNamesAreNotFound) {
  Start();
  EXPECT_EQ(Get("/v2/models/other"), std::pair(404, json({{"error", "model 'other' is unknown"}})));
  EXPECT_EQ(Get("/v2/models/null/versions/4").second["error"],
            "model 'null' has no version '4', it serves 3");
  for (const char* path :
       {"/v2/models/../health/live", "/v2/models/%2e%2e%2fhealth%2flive", "/v2/models/..",
        "/v2/models/%00", "/v2/models/%ff%fe", "/v2/models/null/versions/../ready",
        "/v2/models/null/nothing", "/v2/models//ready"}) {
    EXPECT_EQ(Get(path).first, 404) << path;
  }
}

TEST_F(KServeRoutesTest, KeysGuardAllButHealth) {
  const auto keys = testing::OpenKeys({{"ann", Role::kUser, "good"}});
  Start(keys.get());
  for (const char* path : {"/v2", "/v2/models", "/v2/models/null", "/v2/models/null/ready",
                           "/v2/models/null/config", "/v2/models/other"}) {
    EXPECT_EQ(Get(path).first, 401) << path;
    EXPECT_EQ(Get(path, {{"Authorization", "Bearer bad"}}).first, 401) << path;
    EXPECT_EQ(Get(path, {{"X-Api-Key", "bad"}}).first, 401) << path;
  }
  EXPECT_EQ(Get("/v2/models").second["error"],
            "an API key is needed, as `authorization: Bearer <key>` or `x-api-key: <key>`");
  EXPECT_EQ(Post("/v2/repository/index", "").first, 401);
  EXPECT_EQ(Post("/v2/repository/index", "", {{"X-Api-Key", "good"}}).first, 200);
  EXPECT_EQ(Get("/v2/models", {{"Authorization", "Bearer good"}}).first, 200);
  EXPECT_EQ(Get("/v2/models", {{"X-Api-Key", "good"}}).first, 200);
  EXPECT_EQ(Get("/v2/health/live").first, 200);
  EXPECT_EQ(Get("/v2/health/ready").first, 200);
}

}  // namespace
}  // namespace millrace
