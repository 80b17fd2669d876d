#include "server/frontends/translation_plugins/plugin_protocols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json.hpp"

namespace millrace::server {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const PluginProtocol& At(std::string_view path) {
  for (const PluginProtocol& protocol : PluginProtocols()) {
    if (path == protocol.path) return protocol;
  }
  ADD_FAILURE() << "no protocol at " << path;
  return PluginProtocols().front();
}

std::string Error(std::string_view path, const json& members) {
  return std::string(ParsePluginRequest(At(path), members).status().message());
}

TEST(PluginProtocolsTest, ImmersiveTranslateHasPlaceholdersOfHtml) {
  const auto plain = ParsePluginRequest(
      At("/imme"), {{"source_lang", "auto"}, {"target_lang", "pt"}, {"text_list", {"a < b"}}});
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(plain->translation.input.format, models::TextFormat::kText);
  EXPECT_EQ(plain->translation.input.source_language, kAutoLanguage);
  const auto marked = ParsePluginRequest(
      At("/imme"),
      {{"target_lang", "pt"}, {"text_list", {"a", "<b0></b0> b"}}, {"source_lang", "en"}});
  ASSERT_TRUE(marked.ok()) << marked.status();
  EXPECT_EQ(marked->translation.input.format, models::TextFormat::kHtml);
  EXPECT_EQ(marked->translation.input.source_language, "en");
  EXPECT_THAT(marked->translation.input.texts, ElementsAre("a", "<b0></b0> b"));
}

TEST(PluginProtocolsTest, WhatSharesThePathOfLibreTranslateIsToldApartByItsMembers) {
  EXPECT_EQ(ProtocolOfTranslate({{"q", "a"}, {"source", "en"}, {"target", "pt"}}), nullptr);
  EXPECT_EQ(ProtocolOfTranslate({{"q", "a"}, {"text", "a"}, {"to", "pt"}}), nullptr);
  EXPECT_EQ(ProtocolOfTranslate({{"text", "a"}}), nullptr);
  EXPECT_STREQ(ProtocolOfTranslate({{"text", "a"}, {"target_lang", "PT"}})->path, "/deeplx");
  const PluginProtocol* mtran = ProtocolOfTranslate({{"text", "a"}, {"from", "en"}, {"to", "pt"}});
  ASSERT_NE(mtran, nullptr);
  const auto request =
      ParsePluginRequest(*mtran, {{"text", "a"}, {"from", "en"}, {"to", "pt"}, {"html", true}});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->translation.input.format, models::TextFormat::kHtml);
}

TEST(PluginProtocolsTest, AFormHasTruthValuesAsText) {
  const auto format_of = [](const json& html) {
    const auto request =
        ParsePluginRequest(At("/translate/batch"), {{"texts", "a"}, {"to", "pt"}, {"html", html}});
    EXPECT_TRUE(request.ok()) << request.status();
    return request.ok() ? request->translation.input.format : models::TextFormat::kMarkdown;
  };
  for (const json& html : {json("true"), json("1")})
    EXPECT_EQ(format_of(html), models::TextFormat::kHtml);
  for (const json& html : {json("false"), json("0")})
    EXPECT_EQ(format_of(html), models::TextFormat::kText);
}

TEST(PluginProtocolsTest, MembersWithoutEffectAreKept) {
  const auto ignored = [](std::string_view path, const json& members) {
    const auto request = ParsePluginRequest(At(path), members);
    EXPECT_TRUE(request.ok()) << request.status();
    return request.ok() ? request->ignored : std::vector<std::string>();
  };
  EXPECT_THAT(ignored("/imme", {{"text_list", {"a"}}, {"target_lang", "pt"}, {"text", "b"}}),
              ElementsAre("text"));
  // Several texts are asked for, not the one.
  EXPECT_THAT(ignored("/kiss", {{"texts", {"a"}}, {"text", "b"}, {"to", "pt"}, {"tone", 1}}),
              ElementsAre("text", "tone"));
  EXPECT_THAT(ignored("/kiss", {{"text", "b"}, {"to", "pt"}, {"texts", nullptr}}), ElementsAre());
  EXPECT_THAT(ignored("/deeplx", {{"text", "a"}, {"target_lang", "PT"}, {"tag_handling", ""}}),
              ElementsAre());
  // A query without a body holds the key too.
  EXPECT_THAT(ignored("/translate/batch",
                      {{"texts", "a"}, {"to", "pt"}, {"html", true}, {"token", "k"}, {"x", 1}}),
              ElementsAre("x"));
}

TEST(PluginProtocolsTest, WrongMembersAreNamed) {
  EXPECT_EQ(Error("/imme", {{"target_lang", "pt"}}), "text_list: is missing");
  EXPECT_EQ(Error("/imme", {{"text_list", {"a"}}}), "target_lang: is missing");
  EXPECT_THAT(Error("/imme", {{"text_list", 7}, {"target_lang", "pt"}}),
              HasSubstr("text_list: must be a string or a list of strings, not number"));
  EXPECT_THAT(Error("/kiss", {{"texts", {"a", 7}}, {"to", "pt"}}), HasSubstr("texts[1]: must be"));
  EXPECT_EQ(Error("/kiss", {{"from", "en"}, {"to", "pt"}}), "text: is missing");
  EXPECT_THAT(Error("/kiss", {{"text", "a"}, {"to", 7}}), HasSubstr("to: must be a string"));
  EXPECT_THAT(Error("/deeplx", {{"text", {"a"}}, {"target_lang", "PT"}}),
              HasSubstr("text: must be a string, not array"));
  EXPECT_THAT(Error("/deeplx", {{"text", "a"}, {"target_lang", "PT"}, {"tag_handling", "x"}}),
              HasSubstr("tag_handling: 'x'"));
  EXPECT_EQ(Error("/translate/batch", {{"text", "a"}, {"to", "pt"}}), "texts: is missing");
  EXPECT_THAT(Error("/translate/batch", {{"texts", {"a"}}, {"to", "pt"}, {"html", 2}}),
              HasSubstr("html: must be true or false"));
}

}  // namespace
}  // namespace millrace::server
