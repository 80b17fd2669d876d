#include "server/frontends/kserve/repository_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "httplib.h"
#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/base/mutex.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/http_client.h"
#include "tests/fakes/open_keys.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RepositoryRoutesTest : public ::testing::Test {
 protected:
  void Serve(const ApiKeyStore* keys = nullptr) {
    HttpServer::Options options;
    options.address = "127.0.0.1:0";
    server_ = std::make_unique<HttpServer>(options);
    AddRepositoryRoutes(
        *server_,
        {.load = [this](std::string model,
                        RepositoryActions::Done done) -> absl::StatusOr<RepositoryActions::Cancel> {
           if (model == "none") return absl::NotFoundError("model: 'none' is not there");
           loaded_.push_back(std::move(model));
           if (waits_) {
             done_ = std::move(done);
             begun_ = true;
           } else {
             done(outcome_);
           }
           return [this] { cancelled_ = true; };
         },
         .unload =
             [this](std::string_view model) {
               unloaded_.emplace_back(model);
               return outcome_;
             },
         .pull = pulls_ ? PullAction([this](std::string model, PullOrder order,
                                            RepositoryActions::Done done)
                                         -> absl::StatusOr<RepositoryActions::Cancel> {
           pulled_.push_back(order.published + " as " + model + (order.license_ok ? ", ok" : ""));
           done(outcome_);
           return [] {};
         })
                        : nullptr,
         .remove = pulls_ ? RemoveAction([this](std::string_view model) {
           removed_.emplace_back(model);
           return outcome_;
         })
                          : nullptr,
         .started = [this] { return started_; }},
        keys);
    ASSERT_TRUE(server_->Start().ok());
  }
  std::pair<int, json> Post(const std::string& path, const std::string& body = "",
                            const httplib::Headers& headers = {}) {
    testing::HttpClient client(server_->port());
    const auto result =
        client.Post("/v2/repository/models/" + path, headers, body, "application/json");
    if (!result) return {0, nullptr};
    return {result->status, json::parse(result->body)};
  }

  absl::Status outcome_;
  bool started_ = true;
  bool pulls_ = false;
  std::vector<std::string> pulled_;
  bool waits_ = false;  // loads end when done_ is called
  std::atomic<bool> begun_{false};
  std::atomic<bool> cancelled_{false};
  RepositoryActions::Done done_;
  std::vector<std::string> loaded_;
  std::vector<std::string> unloaded_;
  std::vector<std::string> removed_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(RepositoryRoutesTest, LoadsAndUnloads) {
  Serve();
  EXPECT_EQ(Post("voice/load"), std::pair(200, json::object()));
  EXPECT_EQ(Post("voice/unload", R"({"parameters": {"unload_dependents": true}})"),
            std::pair(200, json::object()));
  EXPECT_THAT(loaded_, ElementsAre("voice"));
  EXPECT_THAT(unloaded_, ElementsAre("voice"));
}

TEST_F(RepositoryRoutesTest, RemovesWhereThatIsAllowed) {
  constexpr char kRemove[] = R"({"parameters": {"remove": true}})";
  Serve();
  auto [status, body] = Post("voice/unload", kRemove);
  EXPECT_EQ(status, 400);
  EXPECT_THAT(body["error"].get<std::string>(), HasSubstr("--allow-pull"));
  pulls_ = true;
  Serve();
  EXPECT_EQ(Post("voice/unload", kRemove), std::pair(200, json::object()));
  EXPECT_THAT(removed_, ElementsAre("voice"));
  EXPECT_EQ(Post("voice/unload", R"({"parameters": {"remove": false}})").first, 200);
  EXPECT_THAT(unloaded_, ElementsAre("voice"));
  std::tie(status, body) = Post("voice/unload", R"({"parameters": {"remove": "yes"}})");
  EXPECT_EQ(status, 400);
  EXPECT_EQ(body["error"], "parameters: remove: must be true or false");
  EXPECT_EQ(Post("..voice/unload", kRemove).first, 400);
  outcome_ = absl::NotFoundError("/models: has no model 'none'");
  EXPECT_EQ(Post("none/unload", kRemove).first, 404);
  EXPECT_THAT(removed_, ElementsAre("voice", "none"));
}

TEST_F(RepositoryRoutesTest, ErrorsSayWhy) {
  Serve();
  EXPECT_EQ(Post("none/load"), std::pair(404, json({{"error", "model: 'none' is not there"}})));
  outcome_ = absl::FailedPreconditionError("weights: are missing");
  EXPECT_EQ(Post("voice/load"), std::pair(400, json({{"error", "weights: are missing"}})));
  EXPECT_EQ(Post("voice/unload").first, 400);
}

TEST_F(RepositoryRoutesTest, AModelIsAsTheRepositoryHasIt) {
  Serve();
  const auto [status, body] = Post("voice/load", R"({"parameters": {"config": "{}"}})");
  EXPECT_EQ(status, 400);
  EXPECT_THAT(body["error"].get<std::string>(), HasSubstr("parameters: 'config'"));
  for (const char* wrong : {"[]", "{", R"({"parameters": 1})"})
    EXPECT_EQ(Post("voice/load", wrong).first, 400) << wrong;
  EXPECT_TRUE(loaded_.empty());
}

TEST_F(RepositoryRoutesTest, BeforeTheStartNothingIsLoaded) {
  started_ = false;
  Serve();
  EXPECT_EQ(Post("voice/load").first, 503);
  EXPECT_EQ(Post("voice/unload").first, 503);
  EXPECT_TRUE(loaded_.empty() && unloaded_.empty());
}

TEST_F(RepositoryRoutesTest, OnlyAnAdminMay) {
  const auto keys =
      testing::OpenKeys({{"ann", Role::kUser, "user"}, {"root", Role::kAdmin, "admin"}});
  Serve(keys.get());
  for (const char* path : {"voice/load", "voice/unload"}) {
    EXPECT_EQ(Post(path).first, 401);
    EXPECT_EQ(Post(path, "", {{"Authorization", "Bearer user"}}).first, 403);
  }
  EXPECT_TRUE(loaded_.empty() && unloaded_.empty());
  EXPECT_EQ(Post("voice/load", "", {{"Authorization", "Bearer admin"}}).first, 200);
}

TEST_F(RepositoryRoutesTest, PagesOfOthersMayNot) {
  Serve();
  EXPECT_EQ(Post("voice/unload", "", {{"Origin", "https://other.example"}}).first, 403);
  EXPECT_TRUE(unloaded_.empty());
}

TEST_F(RepositoryRoutesTest, TheAnswerComesWhenTheLoadHasEnded) {
  waits_ = true;
  Serve();
  std::pair<int, json> answer;
  {
    const JoiningThread client([&] { answer = Post("voice/load"); });
    Await([this] { return begun_.load(); });
    done_(absl::OkStatus());
  }
  EXPECT_EQ(answer.first, 200);
  EXPECT_FALSE(cancelled_);
}

TEST_F(RepositoryRoutesTest, AClientThatLeavesCancels) {
  waits_ = true;
  Serve();
  {
    testing::HttpClient client(server_->port());
    client.set_read_timeout(std::chrono::milliseconds(1));
    EXPECT_FALSE(client.Post("/v2/repository/models/voice/load"));
  }
  Await([this] { return cancelled_.load(); });
  done_(absl::CancelledError("the caller went away"));
}

TEST(RepositoryLoadsTest, AreBoundedOverHttpAndCounted) {
  Mutex mu;
  std::vector<RepositoryActions::Done> waiting;
  std::atomic<size_t> begun{0};
  std::atomic<int> too_many{0};
  HttpServer server({.address = "127.0.0.1:0"});
  AddRepositoryRoutes(
      server,
      {.load = [&](const std::string&,
                   RepositoryActions::Done done) -> absl::StatusOr<RepositoryActions::Cancel> {
         MutexLock lock(mu);
         waiting.push_back(std::move(done));
         begun = waiting.size();
         return [] {};
       },
       .unload = [](std::string_view) { return absl::OkStatus(); },
       .on_too_many = [&] { ++too_many; }},
      nullptr);
  ASSERT_TRUE(server.Start().ok());
  const auto load = [&] {
    testing::HttpClient client(server.port());
    const auto result = client.Post("/v2/repository/models/a/load", "", "application/json");
    return result ? result->status : 0;
  };
  constexpr size_t kAtOnce = 16;
  std::vector<std::unique_ptr<JoiningThread>> callers;
  for (size_t i = 0; i < kAtOnce; ++i) {
    callers.push_back(std::make_unique<JoiningThread>([&] { EXPECT_EQ(load(), 200); }));
  }
  while (begun.load() < kAtOnce) std::this_thread::yield();
  EXPECT_EQ(load(), 429);
  EXPECT_EQ(too_many.load(), 1);
  MutexLock lock(mu);
  for (const auto& done : waiting) done(absl::OkStatus());
}

TEST_F(RepositoryRoutesTest, ALoadMayFetchThePublishedModelBefore) {
  pulls_ = true;
  Serve();
  const std::string body =
      R"({"parameters": {"pull": "firefox/en-de", "license_ok": true, "unload_dependents": false}})";
  EXPECT_EQ(Post("mine/load", body), std::pair(200, json::object()));
  EXPECT_THAT(pulled_, ElementsAre("firefox/en-de as mine, ok"));
  EXPECT_TRUE(loaded_.empty());
  outcome_ = absl::PermissionDeniedError("needs a token");
  EXPECT_EQ(Post("mine/load", body).first, 403);
  pulled_.clear();
  for (const auto& [bad, message] : {std::pair(R"({"pull": 3})", "pull: must be a string"),
                                     std::pair(R"({"pull": "--force"})", "not the name of"),
                                     std::pair(R"({"pull": "a b"})", "not the name of"),
                                     std::pair(R"({"license_ok": 1})", "must be true or false"),
                                     std::pair(R"({"config": "x"})", "is not supported")}) {
    const auto [status, answer] = Post("mine/load", std::string(R"({"parameters": )") + bad + "}");
    EXPECT_EQ(status, 400) << bad;
    EXPECT_THAT(answer["error"].get<std::string>(), HasSubstr(message)) << bad;
  }
  EXPECT_EQ(Post(".x/load", body).first, 400);
  EXPECT_EQ(Post("mine/unload", body).first, 400);
  EXPECT_TRUE(pulled_.empty());
}

TEST_F(RepositoryRoutesTest, NothingIsFetchedUnlessTheServerAllowsIt) {
  Serve();
  const auto [status, answer] = Post("mine/load", R"({"parameters": {"pull": "firefox/en-de"}})");
  EXPECT_EQ(status, 400);
  EXPECT_THAT(answer["error"].get<std::string>(), HasSubstr("--allow-pull"));
  EXPECT_TRUE(loaded_.empty());
}

}  // namespace
}  // namespace millrace::server
