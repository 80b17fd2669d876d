#include "server/frontends/libretranslate/translate_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace millrace::server {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kJson[] = "application/json";
constexpr char kForm[] = "application/x-www-form-urlencoded; charset=utf-8";

absl::StatusOr<HttpTranslateRequest> Parse(std::string_view content_type, std::string_view body,
                                           std::string_view parameters = {}) {
  Query query(parameters);
  return ParseTranslateBody(content_type, body, query);
}

TEST(TranslateMessageTest, JsonIsRead) {
  const auto request =
      Parse(kJson, R"({"q": ["a", "b"], "source": "auto", "target": "pt", "format": "html",
                 "alternatives": 3, "api_key": "k", "secret": 1, "mode": null})");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_TRUE(CheckTranslate(*request).ok());
  const models::TranslateInput& input = request->translation.input;
  EXPECT_THAT(input.texts, ElementsAre("a", "b"));
  EXPECT_TRUE(request->list);
  EXPECT_TRUE(request->auto_source);
  EXPECT_EQ(input.source_language, "auto");
  EXPECT_EQ(input.target_language, "pt");
  EXPECT_EQ(input.format, models::TextFormat::kHtml);
  EXPECT_EQ(request->alternatives, 3);
  EXPECT_EQ(request->api_key, "k");
  EXPECT_THAT(request->ignored, ElementsAre("secret"));
}

TEST(TranslateMessageTest, AFormIsRead) {
  const auto request =
      Parse(kForm, "q=caf%C3%A9+%26+%zz&source=en&target=pt&alternatives=2&format=&api_key=k%2B");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_THAT(request->translation.input.texts, ElementsAre("caf\xC3\xA9 & %zz"));
  EXPECT_FALSE(request->list);
  EXPECT_FALSE(request->auto_source);
  EXPECT_EQ(request->alternatives, 2);
  EXPECT_EQ(request->api_key, "k+");
  EXPECT_TRUE(request->ignored.empty());
  EXPECT_THAT(Parse(kForm, "q=a&secret=&formt=html")->ignored, ElementsAre("formt"));
  EXPECT_TRUE(Parse(kForm, "q=a&q=b")->list);
}

// Flask, with which the original reads requests, has members of the query beside those of a form.
TEST(TranslateMessageTest, WithoutABodyTheQueryIsRead) {
  const std::pair<std::string, std::string> bodies[] = {
      {"", ""}, {kForm, ""}, {kJson, ""}, {kForm, "alternatives=2"}};
  for (const auto& [type, body] : bodies) {
    const auto request = Parse(type, body, "q=Hi+a%3Fb&source=auto&target=pt");
    ASSERT_TRUE(request.ok()) << request.status();
    EXPECT_THAT(request->translation.input.texts, ElementsAre("Hi a?b"));
    EXPECT_TRUE(request->auto_source);
    EXPECT_EQ(request->alternatives, body.empty() ? 0 : 2);
  }
  const auto json = Parse(kJson, R"({"q": "a"})", "q=b&target=pt");
  EXPECT_THAT(json->translation.input.texts, ElementsAre("a"));
  EXPECT_EQ(json->translation.input.target_language, "");
  EXPECT_EQ(CheckTranslate(*Parse("", "")).message(), "Invalid request: missing q parameter");
}

TEST(TranslateMessageTest, ANegativeNumberOfAlternativesIsNone) {
  EXPECT_EQ(Parse(kJson, R"({"alternatives": 99999999999})")->alternatives, 1000);
}

TEST(TranslateMessageTest, BadBodiesAreNamed) {
  struct Case {
    std::string type;
    std::string body;
    std::string message;
  };
  const std::vector<Case> cases = {
      {kJson, "{", "not valid JSON at byte"},
      {kJson, "[]", "must be a JSON object, not array"},
      {kJson, "{\"q\": \"\xFF\"}", "not valid UTF-8"},
      {kJson, R"({"q": 7})", "q: must be a string or a list of strings, not number"},
      {kJson, R"({"q": ["a", 7]})", "q[1]: must be a string, not number"},
      {kJson, R"({"source": []})", "source: must be a string, not array"},
      {kJson, R"({"alternatives": 1.5})", "alternatives: must be a whole number"},
      {kJson, R"({"alternatives": "3"})", "alternatives: must be a whole number"},
      {kJson, R"({"alternatives": -1})", "alternatives: -1 is not allowed; it is 0 or more"},
      {kForm, "q=a&alternatives=-1", "alternatives: -1 is not allowed; it is 0 or more"},
      {kForm, "q=a&alternatives=x", "alternatives: 'x' is not a whole number"},
      {kJson, R"({"format": "pdf"})", "format: 'pdf' is not supported; text, html"},
      {kForm, "q=%FF", "not valid UTF-8"},
      {kForm, "q=a&q=b&source=en&source=pt", "'source' is given twice"},
      {kJson, R"({"q": "a", "q": "b"})", "the body has the member 'q' twice"},
      {"text/plain", "q", "Content-Type: 'text/plain' is not supported"},
      {"", "q", "Content-Type: is missing"}};
  for (const Case& bad : cases) {
    const auto request = Parse(bad.type, bad.body);
    EXPECT_EQ(request.status().code(), absl::StatusCode::kInvalidArgument) << bad.body;
    EXPECT_THAT(std::string(request.status().message()), HasSubstr(bad.message));
  }
}

TEST(TranslateMessageTest, WhatIsMissingIsNamed) {
  const auto check = [](const std::string& body) {
    return std::string(CheckTranslate(*Parse(kJson, body)).message());
  };
  EXPECT_EQ(check("{}"), "Invalid request: missing q parameter");
  EXPECT_EQ(check(R"({"q": ""})"), "Invalid request: missing q parameter");
  EXPECT_EQ(check(R"({"q": []})"), "Invalid request: missing q parameter");
  EXPECT_EQ(check(R"({"q": "a"})"), "Invalid request: missing source parameter");
  EXPECT_EQ(check(R"({"q": "a", "source": "en"})"), "Invalid request: missing target parameter");
}

TEST(TranslateMessageTest, TermsMayComeWithTheText) {
  const auto json = Parse("application/json",
                          R"({"q": "a", "glossary": [{"source": "bank", "target": "margem"}],
          "do_not_translate": ["Acme", "Foo"]})");
  ASSERT_TRUE(json.ok()) << json.status();
  const std::vector<models::GlossaryEntry> glossary = {{"bank", "margem"}};
  EXPECT_EQ(json->translation.input.glossary, glossary);
  const std::vector<std::string> kept = {"Acme", "Foo"};
  EXPECT_EQ(json->translation.input.do_not_translate, kept);
  const auto form = ParseTranslateForm({{"q", "a"},
                                        {"glossary", R"([{"source": "bank", "target": "margem"}])"},
                                        {"do_not_translate", "Acme"},
                                        {"do_not_translate", "Foo"}});
  ASSERT_TRUE(form.ok()) << form.status();
  EXPECT_EQ(form->translation.input.glossary, glossary);
  EXPECT_EQ(form->translation.input.do_not_translate, kept);
}

TEST(TranslateMessageTest, WrongTermsAreNamed) {
  const auto error = [](const std::string& member) {
    return std::string(
        Parse("application/json", "{\"q\": \"a\", " + member + "}").status().message());
  };
  EXPECT_EQ(error(R"("glossary": {"a": "b"})"),
            "glossary: must be a list of objects, not object '{\"a\":\"b\"}'");
  EXPECT_EQ(error(R"("glossary": ["a"])"),
            "glossary[0]: must be an object with a source and a target, not string 'a'");
  EXPECT_EQ(error(R"("glossary": [{"source": "a", "target": "b"}, {"source": "a"}])"),
            "glossary[1].target: is missing");
  EXPECT_EQ(error(R"("glossary": [{"source": 1, "target": "b"}])"),
            "glossary[0].source: must be a string, not number '1'");
  EXPECT_EQ(error(R"("do_not_translate": ["a", 1])"),
            "do_not_translate[1]: must be a string, not number '1'");
  EXPECT_EQ(error(R"("do_not_translate": 7)"),
            "do_not_translate: must be a string or a list of strings, not number '7'");
  EXPECT_EQ(ParseTranslateForm({{"q", "a"}, {"glossary", "["}}).status().message(),
            "glossary: is not valid JSON at byte 2, where it ends");
}

TEST(TranslateMessageTest, AnswersHaveTheShapeOfTheQuestion) {
  HttpTranslateRequest request;
  const std::vector<TranslationText> texts = {
      {.characters = 1, .read_in = models::DetectedLanguage{"pt", 0.9F}},
      {.characters = 1, .read_in = models::DetectedLanguage{"en", 0}}};
  const std::vector<TranslationResults::Text> results = {
      {.text = "A", .alternatives = {{"B", -1}, {"C", -2}}}, {.text = "D"}};
  EXPECT_EQ(json::parse(TranslateBody(request, {texts[0]}, {results[0]})),
            json::parse(R"({"translatedText": "A"})"));
  request.alternatives = 2;
  request.auto_source = true;
  EXPECT_EQ(json::parse(TranslateBody(request, {texts[0]}, {results[0]})),
            json::parse(R"({"translatedText": "A", "alternatives": ["B", "C"],
                            "detectedLanguage": {"confidence": 90, "language": "pt"}})"));
  request.list = true;
  EXPECT_EQ(json::parse(TranslateBody(request, texts, results)),
            json::parse(R"({"translatedText": ["A", "D"], "alternatives": [["B", "C"], []],
                            "detectedLanguage": [{"confidence": 90, "language": "pt"},
                                                 {"confidence": 0, "language": "en"}]})"));
}

TEST(TranslateMessageTest, WhatWasLostIsSaid) {
  HttpTranslateRequest request;
  const std::vector<TranslationText> texts(2);
  const std::vector<TranslationResults::Text> results = {{.text = "A", .lost = {"£"}},
                                                         {.text = "B"}};
  EXPECT_EQ(json::parse(TranslateBody(request, {texts[0]}, {results[0]})),
            json::parse(R"({"translatedText": "A", "lost": ["£"]})"));
  request.list = true;
  EXPECT_EQ(json::parse(TranslateBody(request, texts, results)),
            json::parse(R"({"translatedText": ["A", "B"], "lost": [["£"], []]})"));
}

TEST(TranslateMessageTest, LanguagesHaveTheirNamesAndTargets) {
  const std::vector<TranslationRoute> routes = {{"en", "pt", {}, {}}, {"pt", "de", "en", {}}};
  EXPECT_EQ(json::parse(LanguagesBody(routes)), json::parse(R"([
      {"code": "de", "name": "German", "targets": ["de"]},
      {"code": "en", "name": "English", "targets": ["en", "pt"]},
      {"code": "pt", "name": "Portuguese", "targets": ["de", "pt"], "pivots": {"de": "en"}}])"));
  const json settings = json::parse(SettingsBody(routes, true));
  EXPECT_EQ(settings["keyRequired"], true);
  EXPECT_EQ(settings["filesTranslation"], true);
  EXPECT_EQ(
      settings["supportedFilesFormat"],
      json::parse(
          R"([".txt", ".html", ".md", ".srt", ".vtt", ".ass", ".ssa", ".sub", ".docx", ".pptx", ".odt", ".odp", ".epub", ".json", ".po", ".xliff", ".xlf"])"));
  EXPECT_EQ(settings["language"]["source"]["code"], "en");
  EXPECT_EQ(settings["language"]["target"]["name"], "Portuguese");
  EXPECT_EQ(json::parse(SettingsBody({}, false))["language"]["source"]["code"], "en");
}

TEST(TranslateMessageTest, WhatCannotBeToldIsEnglishForSureNot) {
  EXPECT_EQ(json::parse(DetectBody({})), json::parse(R"([{"confidence": 0, "language": "en"}])"));
  EXPECT_EQ(json::parse(DetectBody({{"pt", 0.5F}, {"gl", 0.25F}})),
            json::parse(R"([{"confidence": 50, "language": "pt"},
                            {"confidence": 25, "language": "gl"}])"));
}

}  // namespace
}  // namespace millrace::server
