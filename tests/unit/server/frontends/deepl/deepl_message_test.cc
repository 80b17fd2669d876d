#include "server/frontends/deepl/deepl_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "nlohmann/json.hpp"
#include "server/frontends/deepl/deepl_languages.h"

namespace millrace::server {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

absl::StatusOr<DeepLRequest> With(const json& more) {
  json members = {{"text", {"a"}}, {"target_lang", "PT-BR"}};
  members.update(more);
  return ParseDeepLRequest(members);
}

TEST(DeepLMessageTest, ReadsWhatThePythonClientSends) {
  const auto request = With({{"text", {"a", "b"}},
                             {"source_lang", "EN"},
                             {"show_billed_characters", true},
                             {"preserve_formatting", true},
                             {"split_sentences", "1"},
                             {"formality", "default"},
                             {"tag_handling", "html"}});
  ASSERT_TRUE(request.ok()) << request.status();
  const models::TranslateInput& input = request->translation.input;
  EXPECT_THAT(input.texts, ElementsAre("a", "b"));
  EXPECT_EQ(input.source_language, "EN");
  EXPECT_EQ(input.target_language, "PT-BR");
  EXPECT_EQ(input.format, models::TextFormat::kHtml);
  EXPECT_THAT(request->ignored, IsEmpty());
}

TEST(DeepLMessageTest, ReadsAForm) {
  const auto request = With({{"text", "a"},
                             {"preserve_formatting", "1"},
                             {"outline_detection", "0"},
                             {"split_sentences", "0"},
                             {"tag_handling", "xml"}});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_THAT(request->translation.input.texts, ElementsAre("a"));
  EXPECT_EQ(request->translation.input.source_language, kAutoLanguage);
  EXPECT_EQ(request->translation.input.format, models::TextFormat::kHtml);
  EXPECT_THAT(request->ignored, ElementsAre("split_sentences"));
}

TEST(DeepLMessageTest, WhatHasNoEffectIsNoted) {
  const auto request = With({{"formality", "prefer_less"},
                             {"context", "a station"},
                             {"model_type", "latency_optimized"},
                             {"splitting_tags", {"p"}},
                             {"of_tomorrow", {{"a", 1}}},
                             {"glossary_id", ""},
                             {"ignore_tags", json::array()},
                             {"style_id", nullptr}});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_THAT(request->ignored, UnorderedElementsAre("formality", "context", "model_type",
                                                     "splitting_tags", "of_tomorrow"));
}

TEST(DeepLMessageTest, IgnoredElementsStayInMarkup) {
  for (const json& tags : {json{"x", "code"}, json("x,code"), json("x, code")}) {
    const auto request = With({{"text", {"Delete <x id=\"16\"></x> <code>a</code>"}},
                               {"tag_handling", "xml"},
                               {"ignore_tags", tags}});
    ASSERT_TRUE(request.ok()) << request.status();
    ASSERT_TRUE(request->kept);
    const std::string& text = request->translation.input.texts[0];
    EXPECT_EQ(text.find("<code>"), text.npos);
    EXPECT_EQ(request->kept->Show(text), "Delete <x id=\"16\"></x> <code>a</code>");
  }
  const auto longer =
      With({{"text", {"a <x>\u00e9</x>", "b"}}, {"tag_handling", "xml"}, {"ignore_tags", {"x"}}});
  HttpTranslator::Result result;
  result.texts.resize(2);
  result.translations.resize(2);
  const json answer = json::parse(DeepLTranslateBody(*longer, std::move(result)));
  EXPECT_EQ(answer["translations"][0]["billed_characters"], 10);
  EXPECT_EQ(answer["translations"][1]["billed_characters"], 1);
  const auto plain = With({{"text", {"a <x>b</x>"}}, {"ignore_tags", {"x"}}});
  EXPECT_EQ(plain->translation.input.texts[0], "a <x>b</x>");
  EXPECT_THAT(plain->ignored, UnorderedElementsAre("ignore_tags"));
  EXPECT_THAT(With({{"ignore_tags", 3}}).status().message(), HasSubstr("ignore_tags: must be"));
}

TEST(DeepLMessageTest, WhatWouldChangeTheTranslationIsRefusedByName) {
  const json refused = {
      {"style_id", "7"}, {"translation_memory_id", "7"}, {"custom_instructions", {"be brief"}}};
  for (const auto& [name, value] : refused.items()) {
    const auto request = With({{name, value}});
    EXPECT_THAT(request.status().message(), HasSubstr(name + ": is not supported; ")) << name;
  }
  EXPECT_THAT(With({{"formality", "more"}}).status().message(),
              HasSubstr("formality: 'more' is not supported; default"));
}

TEST(DeepLMessageTest, WrongMembersAreNamed) {
  const auto error = [](const json& more) { return std::string(With(more).status().message()); };
  EXPECT_THAT(error({{"text", 7}}),
              HasSubstr("text: must be a string or a list of strings, not number"));
  EXPECT_THAT(error({{"text", {"a", {"b"}}}}), HasSubstr("text[1]: must be a string, not array"));
  EXPECT_THAT(error({{"target_lang", {"PT"}}}), HasSubstr("target_lang: must be a string"));
  EXPECT_THAT(error({{"target_lang", ""}}), HasSubstr("target_lang: is missing"));
  EXPECT_THAT(error({{"tag_handling", "svg"}}), HasSubstr("tag_handling: 'svg'"));
  for (const json& none : {json("2"), json(2), json(true), json::array({1})})
    EXPECT_THAT(error({{"split_sentences", none}}), HasSubstr("0, 1 and nonewlines are")) << none;
  EXPECT_THAT(error({{"preserve_formatting", "maybe"}}), HasSubstr("preserve_formatting: must"));
  EXPECT_THAT(error({{"preserve_formatting", 2}}), HasSubstr("preserve_formatting: must"));
  EXPECT_EQ(ParseDeepLRequest({{"target_lang", "PT"}}).status().message(), "text: is missing");
  EXPECT_THAT(error({{"text", nullptr}}), HasSubstr("text: is missing"));
}

TEST(DeepLMessageTest, TheTypeOfLanguages) {
  EXPECT_FALSE(WantsTargets(json::object()).value());
  EXPECT_FALSE(WantsTargets({{"type", "source"}}).value());
  EXPECT_TRUE(WantsTargets({{"type", "target"}}).value());
  EXPECT_THAT(WantsTargets({{"type", "both"}}).status().message(), HasSubstr("type: 'both'"));
  EXPECT_FALSE(WantsTargets({{"type", 7}}).ok());
}

TEST(DeepLLanguagesTest, HaveDeepLsCodes) {
  std::vector<TranslationRoute> routes(4);
  const char* pairs[4][2] = {{"en", "pt"}, {"pt-BR", "en"}, {"de", "zh-Hant"}, {"en-GB", "pt-BR"}};
  for (size_t i = 0; i < routes.size(); ++i) {
    routes[i].source_language = pairs[i][0];
    routes[i].target_language = pairs[i][1];
  }
  EXPECT_EQ(json::parse(DeepLSourcesBody(routes)), json::parse(R"([
      {"language": "DE", "name": "German"}, {"language": "EN", "name": "English"},
      {"language": "PT", "name": "Portuguese"}])"));
  const json targets = json::parse(DeepLTargetsBody(routes));
  std::string codes;
  for (const json& target : targets) {
    codes += target["language"].get<std::string>() + " ";
    EXPECT_EQ(target["supports_formality"], false);
  }
  EXPECT_EQ(codes, "EN-GB EN-US PT-BR PT-PT ZH-HANT ");
  EXPECT_EQ(targets[2]["name"], "Portuguese (Brazilian)");
  EXPECT_EQ(DeepLSource("zh-Hant"), "ZH");
  EXPECT_EQ(DeepLSourcesBody({}), "[]");
}

}  // namespace
}  // namespace millrace::server
