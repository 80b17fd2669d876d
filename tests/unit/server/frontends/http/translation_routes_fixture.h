#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "httplib.h"
#include "nlohmann/json.hpp"
#include "server/frontends/http/http_translator.h"
#include "tests/fakes/http_client.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {

// Completes a translation with "<source><target>(<text>)" and as many alternatives, "1", "2" and so
// on, as the request asks for beyond the first.
inline void WrapTexts(models::Request& request) {
  const auto& input = std::get<models::TranslateInput>(request.input());
  for (size_t i = 0; i < input.texts.size(); ++i) {
    models::TranslateOutput part;
    part.text_index = i;
    part.text = input.source_language + input.target_language + "(" + input.texts[i] + ")";
    if (input.format == models::TextFormat::kHtml) part.text += "html";
    part.text_finished = true;
    for (int k = 1; k < input.search.hypotheses.value_or(1); ++k)
      part.alternatives.push_back({std::to_string(k), 0});
    request.Emit(std::move(part));
  }
  request.Finish(absl::OkStatus());
}

// Serves the routes of one translation protocol over HTTP on a free port of the loopback, with fake
// models of both directions between English and Portuguese.
class TranslationRoutesTest : public ::testing::Test {
 protected:
  struct Answer {
    int status = 0;
    httplib::Headers headers;
    nlohmann::json body;

    // DeepL's errors are in `message`, the others' in `error`.
    std::string error() const { return body.at(body.contains("message") ? "message" : "error"); }
  };

  virtual void AddRoutes(HttpServer& http, Services& services,
                         std::shared_ptr<HttpTranslator> translator) = 0;

  void Serve(HttpTranslator::Options options = {}, TestBackend::Options server = {}) {
    backend_ = std::make_unique<TestBackend>(server);
    HttpServer::Options http;
    http.address = "127.0.0.1:0";
    http_ = std::make_unique<HttpServer>(http);
    AddRoutes(*http_, backend_->services(),
              std::make_shared<HttpTranslator>(backend_->services(), std::move(options)));
    ASSERT_TRUE(http_->Start().ok());
  }
  // The model from English offers three hypotheses.
  void AddModels(const testing::ModelHooks& hooks = {.complete = WrapTexts}) {
    models::ModelInfo info = TranslatorInfo("en-pt", "en", "pt");
    info.translation().max_hypotheses = 3;
    backend_->Add(info, hooks);
    backend_->Add(TranslatorInfo("pt-en", "pt", "en"), hooks);
  }
  void TearDown() override {
    if (backend_ == nullptr) return;
    backend_->admission.Close();
    backend_->CloseScheduler();
    backend_->JoinWorkers();
    http_->Stop();
  }

  Answer Post(const std::string& path, const nlohmann::json& body,
              const httplib::Headers& headers = {}) {
    testing::HttpClient client(http_->port());
    return ToAnswer(client.Post(path, headers, body.dump(), "application/json"));
  }
  Answer PostForm(const std::string& path, const std::string& body) {
    testing::HttpClient client(http_->port());
    return ToAnswer(client.Post(path, body, "application/x-www-form-urlencoded"));
  }
  // Sends `form` as the body, as DeepL's Python client does.
  Answer Get(const std::string& path, const std::string& form = "",
             const httplib::Headers& headers = {}) {
    testing::HttpClient client(http_->port());
    httplib::Request request;
    request.method = "GET";
    request.path = path;
    request.headers = headers;
    if (!form.empty()) request.set_header("Content-Type", "application/x-www-form-urlencoded");
    request.body = form;
    return ToAnswer(client.send(request));
  }

  std::unique_ptr<TestBackend> backend_;
  std::unique_ptr<HttpServer> http_;

 private:
  static Answer ToAnswer(const httplib::Result& result) {
    if (!result) return {};
    return {result->status, result->headers, nlohmann::json::parse(result->body)};
  }
};

}  // namespace millrace::server
