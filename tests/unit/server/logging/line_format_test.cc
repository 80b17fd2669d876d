#include "server/logging/line_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "nlohmann/json.hpp"

namespace millrace::logging {
namespace {

nlohmann::json Parse(std::string_view message, Fields fields = {}) {
  return nlohmann::json::parse("{" + RenderJson(message, fields) + "}");
}

TEST(JsonTest, FieldsKeepTheirTypes) {
  const auto json = Parse("done", {{"ok", true},
                                   {"count", 3},
                                   {"big", uint64_t{1} << 63},
                                   {"seconds", 0.25},
                                   {"model", "joe"}});
  EXPECT_EQ(json["message"], "done");
  EXPECT_EQ(json["ok"], true);
  EXPECT_EQ(json["count"], 3);
  EXPECT_EQ(json["big"], uint64_t{1} << 63);
  EXPECT_EQ(json["seconds"], 0.25);
  EXPECT_EQ(json["model"], "joe");
}

TEST(JsonTest, HostileTextStaysInItsString) {
  const std::string hostile("a\"b\\c\n\r\t\x01\x7f\0d\",\"level\":\"x", 24);
  const auto json = Parse(hostile, {{"key", hostile}});
  EXPECT_EQ(json["message"], hostile);
  EXPECT_EQ(json["key"], hostile);
  EXPECT_EQ(json.size(), 2U);
}

TEST(JsonTest, InvalidUtf8IsReplaced) {
  const char* const kInvalid[] = {
      "\xff", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"};
  for (const char* text : kInvalid) {
    const std::string message = Parse(std::string("a") + text + "b")["message"];
    EXPECT_NE(message.find("\xef\xbf\xbd"), std::string::npos);
    EXPECT_EQ(message.front(), 'a');
    EXPECT_EQ(message.back(), 'b');
  }
}

TEST(JsonTest, ValidUtf8IsKept) {
  const std::string text = "ol\xc3\xa1 \xe2\x82\xac \xf0\x9f\x98\x80";
  EXPECT_EQ(Parse(text)["message"], text);
}

TEST(JsonTest, NumbersThatJsonLacksAreNull) {
  EXPECT_TRUE(Parse("m", {{"value", std::nan("")}})["value"].is_null());
  EXPECT_TRUE(Parse("m", {{"value", HUGE_VAL}})["value"].is_null());
}

TEST(TextTest, BareValuesNeedNoQuotes) {
  EXPECT_EQ(
      RenderText("loaded", {{"model", "joe"}, {"seconds", 1.5}, {"empty", ""}, {"text", "a b"}}),
      "loaded model=joe seconds=1.5 empty=\"\" text=\"a b\"");
}

TEST(TextTest, OneLineWhateverItHolds) {
  const std::string line = RenderText("a\nb\x1b[31m", {{"key", "x\ny\"z\xc2\x9b"}});
  EXPECT_EQ(line, "a\\nb\\u001b[31m key=\"x\\ny\\\"z\\u009b\"");
}

}  // namespace
}  // namespace millrace::logging
