#include "server/frontends/translation_plugins/plugin_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "httplib.h"
#include "models/text/language_detector.h"
#include "nlohmann/json.hpp"
#include "server/frontends/libretranslate/libretranslate_routes.h"
#include "tests/fakes/needed.h"
#include "tests/fakes/open_keys.h"
#include "tests/unit/server/frontends/http/translation_routes_fixture.h"

namespace millrace::server {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class PluginRoutesTest : public TranslationRoutesTest {
 protected:
  void AddRoutes(HttpServer& http, Services& services,
                 std::shared_ptr<HttpTranslator> translator) override {
    AddLibreTranslateRoutes(http, services, translator,
                            AddTranslationPluginRoutes(http, translator));
  }
};

TEST_F(PluginRoutesTest, EachAnswersInItsOwnForm) {
  Serve();
  AddModels();
  const json imme = {{"source_lang", "en"}, {"target_lang", "pt"}, {"text_list", {"a", "b"}}};
  EXPECT_EQ(Post("/imme", imme).body, json::parse(R"json({"translations": [
      {"detected_source_lang": "en", "text": "enpt(a)"},
      {"detected_source_lang": "en", "text": "enpt(b)"}]})json"));
  EXPECT_EQ(Post("/kiss", {{"text", "a"}, {"from", "en"}, {"to", "pt"}}).body,
            json::parse(R"json({"text": "enpt(a)", "src": "en"})json"));
  EXPECT_EQ(Post("/kiss", {{"texts", {"a"}}, {"from", "en"}, {"to", "pt"}}).body,
            json::parse(R"json({"translations": [{"text": "enpt(a)", "src": "en"}]})json"));
  EXPECT_EQ(Post("/translate/batch", {{"texts", {"a", "b"}}, {"from", "en"}, {"to", "pt"}}).body,
            json::parse(R"json({"results": ["enpt(a)", "enpt(b)"]})json"));
  const json mtran = {{"text", "a"}, {"from", "en"}, {"to", "pt"}, {"html", true}};
  EXPECT_EQ(Post("/translate", mtran).body, json::parse(R"json({"result": "enpt(a)html"})json"));
  for (const char* path : {"/deeplx", "/translate"}) {
    const json answer =
        Post(path, {{"text", "a"}, {"source_lang", "EN"}, {"target_lang", "PT"}}).body;
    EXPECT_EQ(answer["code"], 200);
    EXPECT_EQ(answer["data"], "enpt(a)");
    EXPECT_EQ(answer["source_lang"], "EN");
    EXPECT_EQ(answer["target_lang"], "PT");
    EXPECT_EQ(answer["alternatives"], json::array());
    EXPECT_TRUE(answer["id"].is_number());
    EXPECT_EQ(answer["method"], "Free");
  }
}

TEST_F(PluginRoutesTest, IgnoredMembersAreNamedInAWarning) {
  Serve();
  AddModels();
  for (const auto& [path, body] : std::vector<std::pair<const char*, json>>{
           {"/imme", {{"source_lang", "en"}, {"target_lang", "pt"}, {"text_list", {"a"}}}},
           {"/kiss", {{"text", "a"}, {"from", "en"}, {"to", "pt"}}},
           {"/deeplx", {{"text", "a"}, {"source_lang", "EN"}, {"target_lang", "PT"}}},
           {"/translate", {{"text", "a"}, {"from", "en"}, {"to", "pt"}}},
           {"/translate/batch", {{"texts", {"a"}}, {"from", "en"}, {"to", "pt"}}}}) {
    EXPECT_FALSE(Post(path, body).headers.contains("Warning")) << path;
    json more = body;
    more["tone"] = "formal";
    const auto answer = Post(path, more);
    ASSERT_TRUE(answer.headers.contains("Warning")) << path;
    EXPECT_EQ(answer.headers.find("Warning")->second, "299 millrace \"ignored members: tone\"");
  }
}

TEST_F(PluginRoutesTest, ErrorsNameTheMembersAsTheClientDoes) {
  Serve();
  AddModels();
  const auto error = [this](const json& body) { return Post("/kiss", body).body["error"]; };
  EXPECT_THAT(error({{"texts", {"a", std::string(200'000, 'a')}}, {"from", "en"}, {"to", "pt"}}),
              ::testing::StartsWith("texts"));
  EXPECT_THAT(error({{"text", std::string(200'000, 'a')}, {"from", "en"}, {"to", "pt"}}),
              ::testing::StartsWith("text:"));
}

TEST_F(PluginRoutesTest, LibreTranslateKeepsItsPath) {
  Serve();
  AddModels();
  EXPECT_EQ(Post("/translate", {{"q", "a"}, {"source", "en"}, {"target", "pt"}}).body,
            json::parse(R"json({"translatedText": "enpt(a)"})json"));
  EXPECT_THAT(Post("/translate", {{"text", "a"}}).body["error"],
              HasSubstr("Invalid request: missing q parameter"));
}

TEST_F(PluginRoutesTest, TheLanguageIsDetected) {
  MILLRACE_NEEDS(models::CanDetectLanguages(), "built without a detector");
  Serve();
  AddModels();
  const std::string text = "Onde fica a estação mais próxima?";
  EXPECT_EQ(Post("/kiss", {{"text", text}, {"from", "auto"}, {"to", "en"}}).body["src"], "pt");
  EXPECT_EQ(Post("/deeplx", {{"text", text}, {"target_lang", "EN"}}).body["source_lang"], "PT");
  const json imme = {{"source_lang", "auto"}, {"target_lang", "en"}, {"text_list", {text}}};
  EXPECT_EQ(Post("/imme", imme).body["translations"][0]["detected_source_lang"], "pt");
}

TEST_F(PluginRoutesTest, EachIsRefusedInItsOwnForm) {
  Serve();
  AddModels();
  const Answer imme = Post("/imme", {{"target_lang", "xx"}, {"text_list", {"a"}}});
  EXPECT_EQ(imme.status, 400);
  EXPECT_THAT(imme.body["error"], HasSubstr("source_lang, target_lang: no loaded model"));
  const Answer batch = Post("/translate/batch", {{"texts", {""}}, {"from", "en"}, {"to", "pt"}});
  EXPECT_EQ(batch.status, 400);
  EXPECT_THAT(batch.body["error"], HasSubstr("texts[0]: is empty"));
  const Answer deeplx = Post("/deeplx", {{"text", ""}, {"target_lang", "PT"}});
  EXPECT_EQ(deeplx.status, 400);
  EXPECT_EQ(deeplx.body["code"], 400);
  EXPECT_THAT(deeplx.body["message"], HasSubstr("text: is empty"));
  EXPECT_EQ(Post("/deeplx/x", {}).body["code"], 404);
  EXPECT_THAT(Post("/imme", json::array()).body["error"], HasSubstr("must be a JSON object"));
}

TEST_F(PluginRoutesTest, BeforeItHasStartedItIsNotThere) {
  Serve({.started = [] { return false; }});
  AddModels();
  const Answer answer = Post("/kiss", {{"text", "a"}, {"from", "en"}, {"to", "pt"}});
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.headers.find("Retry-After")->second, "1");
}

TEST_F(PluginRoutesTest, AKeyIsTakenInTheWaysOfTheOriginals) {
  const auto keys = testing::OpenKeys({{"alice", Role::kUser, "the-key-of-alice"}});
  Serve({}, {.keys = keys.get()});
  AddModels();
  const json body = {{"text", "a"}, {"from", "en"}, {"to", "pt"}};
  for (const std::string path : {"/kiss", "/translate"}) {
    EXPECT_EQ(Post(path + "?token=the-key-of-alice", body).status, 200);
    EXPECT_EQ(Post(path + "?api_token=the-key-of-alice", body).status, 200);
    for (const auto& header :
         {std::pair("KEY", "the-key-of-alice"), std::pair("X-Api-Token", "the-key-of-alice"),
          std::pair("X-Api-Key", "the-key-of-alice"),
          std::pair("Authorization", "Bearer the-key-of-alice"),
          std::pair("Authorization", "DeepL-Auth-Key the-key-of-alice")}) {
      EXPECT_EQ(Post(path, body, {{header.first, header.second}}).status, 200) << header.first;
    }
    EXPECT_EQ(Post(path + "?token=wrong", body).status, 401);
    EXPECT_EQ(Post(path, body, {{"KEY", "wrong"}}).status, 401);
    EXPECT_EQ(Post(path, body).status, 401);
  }
  EXPECT_EQ(Post("/deeplx", {{"text", "a"}, {"target_lang", "PT"}}).body["code"], 401);
}

}  // namespace
}  // namespace millrace::server
