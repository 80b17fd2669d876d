#include "server/frontends/kserve/rest_infer_routes.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "httplib.h"
#include "mps_runtime/base/joining_thread.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/http_client.h"
#include "tests/fakes/open_keys.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

using nlohmann::json;

constexpr char kPath[] = "/v2/models/null/infer";
constexpr char kGood[] =
    R"({"id":"7","inputs":[{"name":"INPUT0","datatype":"FP32","shape":[4],"data":[1,2,3,4]}]})";
constexpr char kBinary[] =
    R"({"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[4],)"
    R"("parameters":{"binary_data_size":16}}],"parameters":{"binary_data_output":true}})";

class RestInferRoutesTest : public ::testing::Test {
 protected:
  void Serve(RestInferOptions options = {}, TestBackend::Options backend = {},
             testing::ModelHooks hooks = {.complete = Echo}) {
    backend_ = std::make_unique<TestBackend>(backend);
    backend_->Add(InferInfo("null"), std::move(hooks));
    backend_->Add(TranslatorInfo("en-pt", "en", "pt"), {});
    HttpServer::Options http;
    http.address = "127.0.0.1:0";
    http.max_body_bytes = 1000;
    http_ = std::make_unique<HttpServer>(http);
    AddRestInferRoutes(*http_, backend_->services(), std::move(options));
    ASSERT_TRUE(http_->Start().ok());
    client_ = std::make_unique<testing::HttpClient>(http_->port());
    client_->set_keep_alive(true);
    client_->set_tcp_nodelay(true);
  }
  void TearDown() override {
    if (backend_ != nullptr) backend_->CloseScheduler();
    client_.reset();
    if (http_ != nullptr) http_->Stop();
  }

  struct Answer {
    int status = 0;
    httplib::Headers headers;
    std::string body;

    std::string Header(const std::string& name) const {
      const auto found = headers.find(name);
      return found == headers.end() ? "" : found->second;
    }
    std::string error() const { return json::parse(body).at("error"); }
  };
  // On one connection for all of a test.
  Answer Post(const std::string& body, const httplib::Headers& headers = {},
              const std::string& path = kPath, const char* type = "application/json") {
    const auto result = client_->Post(path, headers, body, type);
    if (!result) return {};
    return {result->status, result->headers, result->body};
  }
  double Ended(absl::StatusCode code) {
    return backend_->Count("null", Method::kHttpInfer, code) +
           backend_->Count("", Method::kHttpInfer, code);
  }

  testing::FakeClock clock_;  // outlives the workers, which look at it behind the last answer
  std::unique_ptr<TestBackend> backend_;
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<testing::HttpClient> client_;
};

TEST_F(RestInferRoutesTest, AnswersInJson) {
  Serve();
  for (const char* path : {kPath, "/v2/models/null/versions/1/infer"}) {
    const Answer answer = Post(kGood, {{"X-Request-Id", "mine"}}, path);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.Header("Content-Type"), "application/json");
    EXPECT_EQ(answer.Header("X-Request-Id"), "mine");
    EXPECT_EQ(answer.Header("Inference-Header-Content-Length"), "");
    EXPECT_EQ(json::parse(answer.body),
              json::parse(R"({"model_name":"null","model_version":"1","id":"7","outputs":[
                  {"name":"OUTPUT0","datatype":"FP32","shape":[4],"data":[1,2,3,4]}]})"));
  }
  Await([&] { return Ended(absl::StatusCode::kOk) == 2; });
}

TEST_F(RestInferRoutesTest, AnswersInBinary) {
  Serve();
  const std::string text = kBinary;
  const std::string data("\0\1\2\3\4\5\6\7\x80\x81\x82\x83\xff\xfe\xfd\xfc", 16);
  const Answer answer =
      Post(text + data, {{"Inference-Header-Content-Length", std::to_string(text.size())}}, kPath,
           "application/octet-stream");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.Header("Content-Type"), "application/octet-stream");
  const size_t length = std::stoul(answer.Header("Inference-Header-Content-Length"));
  EXPECT_EQ(json::parse(answer.body.substr(0, length))["outputs"][0]["parameters"],
            (json{{"binary_data_size", 16}}));
  EXPECT_EQ(answer.body.substr(length), data);
  const Answer raw = Post(data, {{"Inference-Header-Content-Length", "0"}});
  EXPECT_EQ(raw.body, answer.body);
}

// As curl sends it when nothing is said; the library would take a form of at most 8 KiB apart.
TEST_F(RestInferRoutesTest, TheContentTypeDoesNotMatterAndTheBodyMayBeLarge) {
  Serve({.max_body_bytes = 100'000});
  std::string body = kGood;
  body += std::string(100'000 - body.size(), ' ');
  EXPECT_EQ(Post(body, {}, kPath, "application/x-www-form-urlencoded").status, 200);
  const Answer large = Post(body + " ");
  EXPECT_EQ(large.status, 413);
  EXPECT_EQ(large.error(), "body is larger than the 100000 bytes allowed");
  EXPECT_EQ(Post(std::string(1001, ' '), {}, "/v2/models/null/other").status, 413);
}

TEST_F(RestInferRoutesTest, ErrorsAreTheProtocols) {
  Serve();
  const auto expect = [](const Answer& answer, int status, const std::string& message) {
    EXPECT_EQ(answer.status, status) << message;
    EXPECT_EQ(answer.Header("Content-Type"), "application/json");
    EXPECT_EQ(answer.error(), message);
  };
  expect(Post("{\"inputs\":"), 400, "the body is not valid JSON at byte 11, where it ends");
  expect(Post("a=1", {}, kPath, "application/x-www-form-urlencoded"), 400,
         "the body must be JSON or binary data, not a form");
  expect(Post("{}"), 400, "inputs: has 0 tensors; model 'null' takes 1: INPUT0");
  expect(Post(kGood, {}, "/v2/models/nobody/infer"), 404,
         "model: 'nobody' is not loaded; loaded for infer are: null");
  expect(Post(kGood, {}, "/v2/models/null/versions/2/infer"), 404,
         "model_version: '2' of model 'null' is not loaded; 1 is");
  expect(Post(kGood, {}, "/v2/models/en-pt/infer"), 400,
         "model: 'en-pt' is a model for translation, not for infer");
  expect(Post(kGood, {{"Inference-Header-Content-Length", "9999"}}), 400,
         "Inference-Header-Content-Length: is '9999'; must be a number of 0.." +
             std::to_string(std::string(kGood).size()) + ", the bytes of the body");
  EXPECT_EQ(client_->Get(kPath)->status, 405);
  EXPECT_EQ(Post(kGood).status, 200);
  const httplib::MultipartFormDataItems form = {{"inputs", "x", "", ""}};
  const auto result = client_->Post(kPath, form);
  ASSERT_TRUE(result);
  EXPECT_EQ(json::parse(result->body)["error"], "the body must be JSON or binary data, not a form");
  EXPECT_EQ(Post(kGood).status, 200);
}

TEST_F(RestInferRoutesTest, WhatJsonCannotSayIsCountedAsAnError) {
  Serve({}, {}, {.complete = [](models::Request& request) {
          models::InferOutput output;
          output.outputs.push_back({"OUTPUT0", models::DataType::kFp16, {1}, "ab"});
          request.Emit(std::move(output));
          request.Finish(absl::OkStatus());
        }});
  const Answer answer = Post(kGood);
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.error(),
            "output 'OUTPUT0': FP16 has no form in JSON; ask for it as binary data");
  Await([&] { return Ended(absl::StatusCode::kInvalidArgument) == 1; });
}

// The clock stands still until the first step, which finds the request due in the client's 1000
// microseconds and lets one more than these pass.
TEST_F(RestInferRoutesTest, TheClientsTimeoutIsADeadline) {
  Duration left{};
  Serve({}, {.clock = clock_}, {.complete = [&](models::Request& request) {
          if (left != Duration{}) return;
          left = request.expires() - clock_.Now();
          clock_.Advance(std::chrono::microseconds(1001));
        }});
  EXPECT_EQ(Post(std::string("{\"parameters\":{\"timeout\":1000},") + (kGood + 1)).status, 504);
  EXPECT_EQ(left, std::chrono::microseconds(1000));
  Await([&] { return Ended(absl::StatusCode::kDeadlineExceeded) == 1; });
}

TEST_F(RestInferRoutesTest, ATimeoutBeyondTheServersIsTheServers) {
  Serve({}, {.max_request_time = std::chrono::milliseconds(1)},
        {.complete = [](models::Request&) {}});
  EXPECT_EQ(
      Post(std::string("{\"parameters\":{\"timeout\":18446744073709551615},") + (kGood + 1)).status,
      504);
}

TEST_F(RestInferRoutesTest, AFullServerSaysWhenToComeBack) {
  Gate gate;
  Serve({.max_connections = 1}, {},
        {.forward = [&gate](models::Request&) { gate.Pass(); }, .complete = Echo});
  testing::HttpClient other(http_->port());
  const JoiningThread first([&] { EXPECT_EQ(other.Post(kPath, kGood, "")->status, 200); });
  gate.AwaitInside();
  const Answer refused = Post(kGood);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.Header("Retry-After"), "1");
  EXPECT_EQ(refused.error(), "the server already infers on 1 HTTP connections, which is its limit");
  gate.Open();
}

TEST_F(RestInferRoutesTest, AClientThatLeavesStopsItsWork) {
  std::atomic<bool> stopped{false};
  Gate gate;
  Serve({}, {}, {.forward = [&](models::Request& request) {
          gate.Pass();
          Await([&request] { return request.ShouldStop(); });
          stopped = true;
        }});
  {
    testing::HttpClient other(http_->port());
    const JoiningThread asks([&] { EXPECT_FALSE(other.Post(kPath, kGood, "")); });
    gate.AwaitInside();
    gate.Open();
    other.stop();
  }
  Await([&] { return Ended(absl::StatusCode::kCancelled) == 1; });
  Await([&] { return backend_->admission.in_flight() == 0; });
}

TEST_F(RestInferRoutesTest, BeforeItHasStartedItIsNotThere) {
  Serve({.started = [] { return false; }});
  const Answer answer = Post(kGood);
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.error(), "the server is starting; try again soon");
}

TEST_F(RestInferRoutesTest, AKeyIsNeededWhereThereAreKeys) {
  const auto keys = testing::OpenKeys({{"ann", Role::kUser, "good"}});
  Serve({}, {.keys = keys.get()});
  // Whatever else is wrong; and the connection goes on behind a body that nobody wanted.
  for (const char* path : {kPath, "/v2/models/nobody/infer"}) {
    const Answer answer = Post(kGood, {{"X-Api-Key", "bad"}}, path);
    EXPECT_EQ(answer.status, 401);
    EXPECT_EQ(answer.Header("WWW-Authenticate"), "Bearer");
    EXPECT_EQ(answer.error(), "the API key is not known");
  }
  EXPECT_EQ(Post(kGood, {{"Authorization", "Bearer good"}}).status, 200);
  EXPECT_EQ(Post(kGood, {{"X-Api-Key", "good"}}).status, 200);
}

}  // namespace
}  // namespace millrace::server
