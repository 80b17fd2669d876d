#include "server/frontends/deepl/deepl_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "httplib.h"
#include "models/core/strings.h"
#include "models/text/language_detector.h"
#include "mps_runtime/base/joining_thread.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/needed.h"
#include "tests/fakes/open_keys.h"
#include "tests/unit/server/frontends/http/translation_routes_fixture.h"

namespace millrace::server {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class DeepLRoutesTest : public TranslationRoutesTest {
 protected:
  void AddRoutes(HttpServer& http, Services& services,
                 std::shared_ptr<HttpTranslator> translator) override {
    AddDeepLRoutes(http, services, std::move(translator));
  }
};

const json kGood = {{"text", {"a", "é"}}, {"source_lang", "EN"}, {"target_lang", "PT-BR"}};

TEST_F(DeepLRoutesTest, TranslatesTextsInOrder) {
  Serve();
  AddModels();
  const Answer answer = Post("/v2/translate", kGood);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, json::parse(R"json({"translations": [
      {"detected_source_language": "EN", "text": "enpt(a)", "billed_characters": 1},
      {"detected_source_language": "EN", "text": "enpt(é)", "billed_characters": 1}]})json"));
  EXPECT_EQ(answer.headers.count("Warning"), size_t{0});
  EXPECT_EQ(answer.headers.count("X-Request-Id"), size_t{1});
  const Answer form =
      PostForm("/v2/translate", "text=a&text=b&source_lang=PT&target_lang=EN-US&tag_handling=html");
  EXPECT_EQ(form.status, 200);
  EXPECT_EQ(form.body["translations"][1]["text"], "pten(b)html");
}

TEST_F(DeepLRoutesTest, IgnoredMembersAreNamedInAWarning) {
  Serve();
  AddModels();
  json body = kGood;
  body["context"] = "a station";
  const Answer answer = Post("/v2/translate", body);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.find("Warning")->second, "299 millrace \"ignored members: context\"");
}

TEST_F(DeepLRoutesTest, TheLanguageIsDetected) {
  MILLRACE_NEEDS(models::CanDetectLanguages(), "built without a detector");
  Serve();
  AddModels();
  const json texts = {"Where is the nearest station?", "Onde fica a estação mais próxima?"};
  const Answer answer = Post("/v2/translate", {{"text", texts}, {"target_lang", "PT-PT"}});
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json& translations = answer.body["translations"];
  EXPECT_EQ(translations[0]["detected_source_language"], "EN");
  EXPECT_EQ(translations[1]["detected_source_language"], "PT");
  EXPECT_EQ(translations[1]["text"], texts[1]);
}

TEST_F(DeepLRoutesTest, LanguagesAndUsageAreToldInAllWaysOfAsking) {
  Serve();
  AddModels();
  const json sources = json::parse(R"([{"language": "EN", "name": "English"},
                                       {"language": "PT", "name": "Portuguese"}])");
  EXPECT_EQ(Get("/v2/languages").body, sources);
  EXPECT_EQ(Get("/v2/languages?type=source").body, sources);
  EXPECT_EQ(PostForm("/v2/languages", "type=source").body, sources);
  for (const Answer& targets :
       {Get("/v2/languages?type=target"), Get("/v2/languages", "type=target"),
        PostForm("/v2/languages", "type=target"), Post("/v2/languages", {{"type", "target"}})}) {
    EXPECT_EQ(targets.status, 200);
    EXPECT_EQ(targets.body.size(), size_t{4});
    EXPECT_EQ(targets.body[0]["name"], "English (British)");
  }
  const json usage = {{"character_count", 0}, {"character_limit", 1'000'000'000'000}};
  EXPECT_EQ(Get("/v2/usage").body, usage);
  EXPECT_EQ(Post("/v2/usage", json::object()).body, usage);
  EXPECT_EQ(Get("/v2/languages?type=both").status, 400);
  EXPECT_EQ(Get("/v2/languages", "type=%ff").status, 400);
}

TEST_F(DeepLRoutesTest, ErrorsHaveTheOriginalsShape) {
  Serve();
  AddModels();
  const auto error = [this](const json& more, int status = 400) {
    json body = kGood;
    body.update(more);
    const Answer answer = Post("/v2/translate", body);
    EXPECT_EQ(answer.status, status);
    return answer.error();
  };
  EXPECT_THAT(error({{"target_lang", "XX"}}), HasSubstr("source_lang, target_lang: no loaded"));
  EXPECT_THAT(error({{"text", json::array()}}), HasSubstr("text: is empty"));
  EXPECT_THAT(error({{"text", {"", ""}}}), HasSubstr("text[0]: is empty"));
  EXPECT_THAT(error({{"text", {"a", std::string("b\0", 2)}}}), HasSubstr("text[1]: has a NUL"));
  EXPECT_THAT(error({{"text", {std::string(100'001, 'x')}}}, 413), HasSubstr("text: has 100001"));
  EXPECT_THAT(error({{"glossary_id", "7"}}), HasSubstr("glossary_id: there is no glossary '7'"));
  for (const char* path : {"/v2/documents", "/v2/document/7/x", "/v2/usage/x"}) {
    const Answer absent = Get(path);
    EXPECT_EQ(absent.status, 404);
    EXPECT_EQ(absent.error(), StrCat("no such path: '", path, "'"));
  }
  EXPECT_EQ(Get("/v3/glossaries", "", {{"Authorization", "DeepL-Auth-Key any"}}).error(),
            "no such path: '/v3/glossaries'");
  for (const auto& [absent, name] :
       {std::pair(Get("/v2/glossaries/7"), "glossary '7'"),
        std::pair(Get("/v2/glossaries/a%20b/entries"), "glossary 'a b'"),
        std::pair(PostForm("/v2/document/8", "document_key=1"), "document '8'"),
        std::pair(PostForm("/v2/document/9/result", "document_key=1"), "document '9'")}) {
    EXPECT_EQ(absent.status, 404);
    EXPECT_THAT(absent.error(), HasSubstr(StrCat("there is no ", name)));
  }
  EXPECT_EQ(Get("/v2/translate").status, 405);
}

TEST_F(DeepLRoutesTest, AnOverloadedServerSaysWhenToComeBack) {
  Gate gate;
  Serve({.max_connections = 1});
  AddModels({.forward = [&gate](models::Request&) { gate.Pass(); }, .complete = WrapTexts});
  const JoiningThread first([&] { EXPECT_EQ(Post("/v2/translate", kGood).status, 200); });
  gate.AwaitInside();
  const Answer refused = Post("/v2/translate", kGood);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.headers.find("Retry-After")->second, "1");
  EXPECT_THAT(refused.error(), HasSubstr("1 HTTP connections"));
  gate.Open();
}

TEST_F(DeepLRoutesTest, BeforeItHasStartedItIsNotThere) {
  Serve({.started = [] { return false; }});
  EXPECT_EQ(Post("/v2/translate", kGood).status, 503);
  for (const char* list : {"/v2/languages", "/v2/glossary-language-pairs"})
    EXPECT_EQ(Get(list).status, 503) << list;
}

TEST_F(DeepLRoutesTest, WithoutABodyTheQueryIsRead) {
  Serve();
  AddModels();
  const Answer answer = PostForm("/v2/translate?text=Hi&text=a%3Fb&target_lang=PT", "");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body.at("translations").size(), 2);
}

TEST_F(DeepLRoutesTest, RequestsAreCountedWithTheOthersOverHttp) {
  Serve();
  AddModels();
  Post("/v2/translate", kGood);
  Post("/v2/translate", json::object());
  Await([this] { return backend_->admission.in_flight() == 0; });
  EXPECT_EQ(backend_->Count("en-pt", Method::kHttpTranslate, absl::StatusCode::kOk), 1);
  EXPECT_EQ(backend_->Count("", Method::kHttpTranslate, absl::StatusCode::kInvalidArgument), 1);
}

TEST_F(DeepLRoutesTest, AKeyIsNeededEverywhere) {
  const auto keys = testing::OpenKeys({{"alice", Role::kUser, "the-key-of-alice"}});
  Serve({}, {.keys = keys.get()});
  AddModels();
  for (const httplib::Headers& headers :
       {httplib::Headers{{"Authorization", "DeepL-Auth-Key the-key-of-alice"}},
        httplib::Headers{{"Authorization", "deepl-auth-key  the-key-of-alice"}},
        httplib::Headers{{"Authorization", "Bearer the-key-of-alice"}},
        httplib::Headers{{"X-Api-Key", "the-key-of-alice"}}}) {
    EXPECT_EQ(Post("/v2/translate", kGood, headers).status, 200);
    EXPECT_EQ(Get("/v2/languages", "type=target", headers).status, 200);
    EXPECT_EQ(Get("/v2/usage", "", headers).status, 200);
  }
  for (const httplib::Headers& headers :
       {httplib::Headers{}, httplib::Headers{{"Authorization", "DeepL-Auth-Key wrong"}},
        httplib::Headers{{"Authorization", "DeepL-Auth-Key"}},
        httplib::Headers{{"Authorization", "the-key-of-alice"}}}) {
    EXPECT_EQ(Post("/v2/translate", json::array(), headers).status, 403);
    EXPECT_EQ(Get("/v2/languages", "", headers).status, 403);
    EXPECT_EQ(Get("/v2/usage", "", headers).status, 403);
  }
  EXPECT_THAT(Get("/v2/usage").error(), HasSubstr("`authorization: DeepL-Auth-Key <key>`"));
}

}  // namespace
}  // namespace millrace::server
