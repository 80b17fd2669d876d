#include "server/frontends/console/console_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "httplib.h"
#include "nlohmann/json.hpp"
#include "server/frontends/console/page_files.h"
#include "server/security/api_key_store.h"
#include "tests/fakes/http_client.h"
#include "tests/fakes/open_keys.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr size_t kMostPackedBytes = 120 << 10;

class View final : public ServerView {
 public:
  std::string Version() const override { return "1.2.3"; }
  bool Live() const override { return true; }
  bool Ready() const override { return true; }
  std::vector<ModelStatusView> Models() const override { return models; }
  std::optional<ModelStatusView> FindModel(std::string_view) const override { return {}; }

  std::vector<ModelStatusView> models;
};

class ConsoleRoutesTest : public ::testing::Test {
 protected:
  void Serve(const ApiKeyStore* keys = nullptr, bool loads_models = true) {
    backend_ = std::make_unique<TestBackend>(TestBackend::Options{.keys = keys});
    HttpServer::Options options;
    options.address = "127.0.0.1:0";
    server_ = std::make_unique<HttpServer>(options);
    AddConsoleRoutes(
        *server_,
        std::make_shared<LiveView>(LiveView::Sources{.view = view_,
                                                     .services = backend_->services(),
                                                     .steps = steps_,
                                                     .device = [this] { return device_; },
                                                     .loads_models = loads_models,
                                                     .pulls = [this] { return pulls_; }}),
        std::make_shared<ShelfView>(shelf_), keys, [this] { return started_; });
    ASSERT_TRUE(server_->Start().ok());
  }
  httplib::Result Get(const std::string& path, const httplib::Headers& headers = {}) {
    testing::HttpClient client(server_->port());
    client.set_decompress(false);
    return client.Get(path, headers);
  }
  httplib::Result AskHubs(const httplib::Headers& headers = {}) {
    testing::HttpClient client(server_->port());
    return client.Post("/console/shelf/available", headers, "{}", "application/json");
  }
  json Live(const std::string& query = "", const httplib::Headers& headers = {}) {
    const auto answer = Get("/console/live" + query, headers);
    EXPECT_EQ(answer->status, 200) << answer->body;
    return json::parse(answer->body);
  }

  View view_;
  LiveView::Device device_{.name = "cpu"};
  StepTimeline steps_{2};
  std::vector<PullView> pulls_;
  ModelShelf shelf_ = {.installed = [] { return std::vector<ShelfModel>(); }, .published = nullptr};
  bool started_ = true;
  std::unique_ptr<TestBackend> backend_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(ConsoleRoutesTest, ThePageIsPackedForThoseWhoTakeItSo) {
  Serve();
  const auto plain = Get("/");
  EXPECT_EQ(plain->status, 200);
  EXPECT_EQ(plain->get_header_value("Content-Type"), "text/html; charset=utf-8");
  EXPECT_FALSE(plain->has_header("Content-Encoding"));
  EXPECT_THAT(plain->body, HasSubstr("<!doctype html>"));
  const auto packed = Get("/", {{"Accept-Encoding", "gzip, deflate, br"}});
  EXPECT_EQ(packed->get_header_value("Content-Encoding"), "gzip");
  EXPECT_EQ(packed->get_header_value("Vary"), "Accept-Encoding");
  EXPECT_EQ(packed->body.substr(0, 2), "\x1f\x8b");
  EXPECT_LT(packed->body.size(), plain->body.size());
  EXPECT_NE(packed->get_header_value("ETag"), plain->get_header_value("ETag"));
  // As the client library unpacks it.
  testing::HttpClient client(server_->port());
  EXPECT_EQ(client.Get("/", {{"Accept-Encoding", "gzip"}})->body, plain->body);
  EXPECT_FALSE(Get("/", {{"Accept-Encoding", "gzip;q=0"}})->has_header("Content-Encoding"));
}

TEST_F(ConsoleRoutesTest, EachFileIsServedWithItsType) {
  Serve();
  size_t packed = 0;
  for (const PageFile& file : PageFiles()) {
    packed += file.packed.size();
    if (file.name == "index.html") continue;
    const auto answer = Get("/console/" + std::string(file.name));
    EXPECT_EQ(answer->status, 200) << file.name;
    EXPECT_EQ(answer->body, file.plain) << file.name;
    EXPECT_EQ(answer->get_header_value("Content-Type"), "text/javascript; charset=utf-8");
  }
  EXPECT_LE(packed, kMostPackedBytes);
  EXPECT_EQ(Get("/console/consoleXjs")->status, 404);
  EXPECT_EQ(Get("/console/index.html")->status, 404);
}

TEST_F(ConsoleRoutesTest, WhatTheClientHasIsNotSentAgain) {
  Serve();
  const std::string tag = Get("/console/console.js")->get_header_value("ETag");
  for (const std::string& known : {tag, "W/" + tag, "\"other\", " + tag, std::string("*")}) {
    const auto answer = Get("/console/console.js", {{"If-None-Match", known}});
    EXPECT_EQ(answer->status, 304) << known;
    EXPECT_EQ(answer->body, "");
    EXPECT_EQ(answer->get_header_value("ETag"), tag);
  }
  EXPECT_EQ(Get("/console/console.js", {{"If-None-Match", "\"other\""}})->status, 200);
  // The packed form is another one.
  EXPECT_EQ(
      Get("/console/console.js", {{"If-None-Match", tag}, {"Accept-Encoding", "gzip"}})->status,
      200);
}

TEST_F(ConsoleRoutesTest, ThePageMayLoadNothingFromElsewhere) {
  Serve();
  for (const char* path : {"/", "/console/console.js"}) {
    const auto answer = Get(path);
    const std::string policy = answer->get_header_value("Content-Security-Policy");
    EXPECT_THAT(policy, StartsWith("default-src 'none'; script-src 'self'; style-src '")) << path;
    EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
    EXPECT_THAT(policy, Not(HasSubstr("http")));
    EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
    EXPECT_EQ(answer->get_header_value("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(answer->get_header_value("Cache-Control"), "no-cache");
  }
  const std::string page = Get("/")->body;
  EXPECT_THAT(page, Not(HasSubstr(" style=")));
  EXPECT_THAT(page, Not(ContainsRegex(" on[a-z]+=")));
}

TEST_F(ConsoleRoutesTest, FilesAreOpenAndDataNeedsAKey) {
  const auto keys =
      testing::OpenKeys({{"ann", Role::kUser, "user"}, {"root", Role::kAdmin, "admin"}});
  Serve(keys.get());
  EXPECT_EQ(Get("/")->status, 200);
  EXPECT_EQ(Get("/console/console.js")->status, 200);
  EXPECT_EQ(Get("/console/live")->status, 401);
  EXPECT_EQ(Get("/console/live", {{"Authorization", "Bearer other"}})->status, 401);
  EXPECT_EQ(Live("", {{"Authorization", "Bearer user"}})["may_admin"], false);
  EXPECT_EQ(Live("", {{"Authorization", "Bearer admin"}})["may_admin"], true);
  EXPECT_EQ(Live("", {{"Authorization", "Bearer admin"}})["keys"], true);
}

TEST_F(ConsoleRoutesTest, NobodyMayLoadModelsWhereTheRoutesAreMissing) {
  Serve(nullptr, /*loads_models=*/false);
  EXPECT_EQ(Live()["may_admin"], false);
}

TEST_F(ConsoleRoutesTest, BeforeTheStartThereIsNoData) {
  started_ = false;
  Serve();
  EXPECT_EQ(Get("/")->status, 200);
  EXPECT_EQ(Get("/console/live")->status, 503);
}

TEST_F(ConsoleRoutesTest, LiveDataHasModelsWorkersAndGauges) {
  Serve();
  device_.permits = 4;
  device_.permits_in_use = 3;
  device_.graph_cache.hits = 9;
  const auto voice = backend_->Add(VoiceInfo("voice"), {});
  voice->metrics().audio_seconds.Increment(2.5);
  voice->metrics().CountRefusal(Refusal::kQueueFull);
  voice->metrics().first_audio_seconds.Observe(0.02);
  voice->metrics().CountRequest(Method::kHttpSpeech, absl::StatusCode::kOk, {});
  voice->metrics().CountRequest(Method::kSynthesize, absl::StatusCode::kCancelled, {});
  voice->metrics().CountRequest(Method::kSynthesize, absl::StatusCode::kInternal, {});
  backend_->no_model_metrics->CountRefusal(Refusal::kTooMany);
  ModelStatusView ready;
  ready.state = ModelState::kReady;
  ready.info.name = "voice";
  ModelStatusView broken;
  broken.state = ModelState::kFailed;
  broken.error = "bad \xff bytes";
  broken.info.name = "broken";
  view_.models = {broken, ready};

  const json live = Live();
  EXPECT_EQ(live["version"], "1.2.3");
  EXPECT_EQ(live["device"], "cpu");
  EXPECT_EQ(live["permits"], json({{"total", 4}, {"in_use", 3}}));
  EXPECT_EQ(live["graph_cache"]["hits"], 9);
  EXPECT_EQ(live["refused_without_model"], 1);
  EXPECT_GT(live["memory"]["resident_bytes"], 0);
  EXPECT_EQ(live["models"][0]["state"], "FAILED");
  EXPECT_EQ(live["models"][0]["error"], "bad \xef\xbf\xbd bytes");
  EXPECT_FALSE(live["models"][0].contains("task"));
  const json& model = live["models"][1];
  EXPECT_EQ(model["task"], "synthesis");
  EXPECT_EQ(model["audio_seconds"], 2.5);
  EXPECT_EQ(model["refused"], 1);
  EXPECT_EQ(model["ended"], json({{"ok", 1}, {"cancelled", 1}, {"failed", 1}}));
  EXPECT_EQ(model["queue"]["size"], 1000);
  // A bound for each bucket but the last, which has none.
  EXPECT_EQ(model["first_audio_seconds"]["counts"].size(), live["bounds"].size() + 1);
  EXPECT_EQ(model["first_audio_seconds"]["counts"].back(), 1);
}

TEST_F(ConsoleRoutesTest, LiveDataHasTheStepsSinceTheLastLook) {
  Serve();
  const TimePoint now = Clock::Real().Now();
  const auto at = [now](int ms) { return now - std::chrono::milliseconds(ms); };
  steps_.Begin(0, "old", 1, at(60'000));
  steps_.End(0, at(59'000));
  steps_.Begin(0, "voice", 2, at(5000));
  steps_.End(0, at(4000));
  steps_.Begin(0, "voice", 2, at(3000));
  steps_.End(0, at(2000));
  steps_.Begin(1, "other", 7, at(100));
  const json live = Live();
  EXPECT_THAT(live["names"], ElementsAre("voice", "other"));
  const json& first = live["workers"][0];
  EXPECT_EQ(first["steps"], 3);
  EXPECT_EQ(first["busy_ms"], 3000);
  EXPECT_EQ(first["running"], nullptr);
  ASSERT_EQ(first["blocks"].size(), 2U);
  EXPECT_EQ(first["blocks"][0][2], 0);  // the place of its name
  EXPECT_EQ(first["blocks"][0][3], 2);
  EXPECT_NEAR(live["now_ms"].get<double>() - first["blocks"][1][1].get<double>(), 2000, 1000);
  EXPECT_EQ(live["workers"][1]["running"]["model"], 1);
  EXPECT_EQ(live["workers"][1]["running"]["requests"], 7);
  const double end = first["blocks"][0][1].get<double>() + 1;  // it is rounded
  EXPECT_EQ(Live("?since=" + std::to_string(end))["workers"][0]["blocks"].size(), 1U);
  for (const char* since : {"nan", "inf", "-inf", "1e300", "-1e300", "x", ""})
    EXPECT_EQ(Live(std::string("?since=") + since)["workers"][0]["blocks"].size(), 2U) << since;
}

TEST_F(ConsoleRoutesTest, LiveHasWhatIsFetched) {
  pulls_ = {{.model = "m", .published = "firefox/en-de", .progress = {.bytes = 5, .size = 10}},
            {.model = "n", .published = "piper/n", .waiting = true}};
  Serve();
  EXPECT_EQ(Live()["pulls"], json::parse(R"([
      {"model": "m", "published": "firefox/en-de", "waiting": false, "bytes": 5, "size": 10, "converting": false},
      {"model": "n", "published": "piper/n", "waiting": true, "bytes": 0, "size": 0, "converting": false}])"));
}

TEST_F(ConsoleRoutesTest, TheShelfHasWhatIsInstalled) {
  shelf_.installed = [] {
    ShelfModel pair;
    pair.info.name = "pair";
    pair.info.version = 2;
    pair.info.platform = "bergamot";
    pair.info.license = "MPL-2.0";
    pair.info.details = models::TranslationInfo{.source_language = "en", .target_language = "pt"};
    pair.origin = {.name = "firefox/en-pt", .revision = "3.0", .date = "2026-11-24"};
    pair.bytes = 17;
    pair.removable = true;
    ShelfModel broken;
    broken.info.name = "broken";
    broken.error = "model.pbtxt: 1:1: what";
    return std::vector<ShelfModel>{broken, pair};
  };
  Serve();
  const auto answer = Get("/console/shelf");
  EXPECT_EQ(json::parse(answer->body), json::parse(R"({
      "may_admin": true, "may_pull": false, "folder": "", "models": [
      {"name": "broken", "version": "1", "removable": false, "error": "model.pbtxt: 1:1: what"},
      {"name": "pair", "version": "2", "removable": true, "task": "translation", "platform": "bergamot",
       "languages": ["en", "pt"], "license": "MPL-2.0", "bytes": 17,
       "origin": {"name": "firefox/en-pt", "revision": "3.0", "date": "2026-11-24"}}]})"));
  EXPECT_THAT(AskHubs()->body, HasSubstr("--allow-pull"));
}

TEST_F(ConsoleRoutesTest, OnlyAdminsAskTheHubs) {
  const auto keys =
      testing::OpenKeys({{"ann", Role::kUser, "user"}, {"root", Role::kAdmin, "admin"}});
  shelf_.published = [](const std::function<bool()>& stop) {
    EXPECT_FALSE(stop());
    return PublishedModels{.models = {R"({"name": "a"})", R"({"name": "b"})"}, .notice = "\"x\""};
  };
  Serve(keys.get());
  const auto with = [](const char* key) -> httplib::Headers {
    return {{"Authorization", std::string("Bearer ") + key}};
  };
  EXPECT_EQ(Get("/console/shelf")->status, 401);
  EXPECT_EQ(AskHubs()->status, 401);
  EXPECT_EQ(json::parse(Get("/console/shelf", with("user"))->body)["may_admin"], false);
  EXPECT_EQ(json::parse(Get("/console/shelf", with("admin"))->body)["may_pull"], true);
  EXPECT_EQ(AskHubs(with("user"))->status, 403);
  EXPECT_EQ(json::parse(AskHubs(with("admin"))->body),
            json::parse(R"({"models": [{"name": "a"}, {"name": "b"}], "notice": "\"x\""})"));
  started_ = false;
  EXPECT_EQ(AskHubs(with("admin"))->status, 503);
}

TEST_F(ConsoleRoutesTest, PagesOfOthersHaveNoHubAsked) {
  shelf_.published = [](const auto&) { return PublishedModels(); };
  Serve();
  EXPECT_EQ(AskHubs({{"Origin", "https://other.example"}})->status, 403);
  EXPECT_EQ(Get("/console/shelf/available")->status, 405);
  EXPECT_EQ(AskHubs()->status, 200);
}

}  // namespace
}  // namespace millrace::server
