#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "models/core/strings.h"
#include "tests/unit/server/documents/translated.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(JsonDocument, OnlyValuesThatAreStringsAreTexts) {
  const std::string file =
      "{\n  \"title\" : \"My page\",\n\t\"n\":1.50, \"list\": [\"One\", {\"title\": \"Two\"}, "
      "null],"
      " \"empty\": \"\", \"count\": \"12 %\"}\r\n";
  EXPECT_THAT(TextsOf("en.JSON", file), ElementsAre("My page", "One", "Two"));
  EXPECT_EQ(Translated("en.json", file, [](const std::string& text) { return "<" + text + ">"; }),
            "{\n  \"title\" : \"<My page>\",\n\t\"n\":1.50, \"list\": [\"<One>\", {\"title\": "
            "\"<Two>\"}, null], \"empty\": \"\", \"count\": \"12 %\"}\r\n");
  EXPECT_EQ(Translated("a.json", "\xEF\xBB\xBF\"One\"", Saying("One", "Um")), "\xEF\xBB\xBF\"Um\"");
}

TEST(JsonDocument, EscapesAreReadAndWritten) {
  EXPECT_THAT(TextsOf("a.json", R"(["a \"b\" \\ c\nd\u00e9: e", "f:"])"),
              ElementsAre("a \"b\" \\ c\nd\xC3\xA9: e", "f:"));
  EXPECT_EQ(Translated("a.json", R"(["It \"is\"\n\/"])", Saying("It", "\tÉ")),
            R"(["\tÉ \"is\"\n/"])");
  EXPECT_EQ(Translated("a.json", R"(["It \/"])", Same), R"(["It \/"])");
  EXPECT_EQ(Translated("a.json", R"(["It", "caf\u00e9"])", Saying("It", "É")),
            R"(["\u00c9", "caf\u00e9"])");
}

TEST(JsonDocument, MetadataStays) {
  EXPECT_THAT(TextsOf("a.json", R"({"@@locale": "en", "hi": "Hi", "@hi": {"description": "A hello",
                                   "placeholders": {"a": {"type": "String"}}}, "bye": "Bye",
                                   "$schema": "the schema"})"),
              ElementsAre("Hi", "Bye"));
  EXPECT_THAT(TextsOf("a.json", R"([{"$id": "one"}, "Two", ["@three", {"@four": ["x"]}], "Five"])"),
              ElementsAre("Two", "@three", "Five"));
}

TEST(JsonDocument, FilesWithoutTexts) {
  EXPECT_THAT(TextsOf("a.json", "{}"), IsEmpty());
  EXPECT_EQ(Translated("a.json", " [1, true] ", Same), " [1, true] ");
}

TEST(JsonDocument, ErrorsNameThePlace) {
  EXPECT_EQ(Translated("a.json", R"({"a": "b",})", Same),
            "file: is not valid JSON: there is an error at byte 11");
  for (const char* file : {"", "{", "\"a", "[\"\\\"]", "[\"a\" \"b\"]", "{\"a\" \"b\"}",
                           "[\"\\x\"]", "[\"\\ud800\"]", "{} {}", "not JSON", "]"}) {
    EXPECT_THAT(Translated("a.json", file, Same), HasSubstr("file: is not valid JSON")) << file;
  }
  for (const std::string_view file : {std::string_view("[]\0\"", 4), {"[\"a\"]\0[\"b\0\"]", 12}}) {
    EXPECT_THAT(Translated("a.json", std::string(file), Same),
                HasSubstr(StrCat("there is an error at byte ", file.find('\0') + 1)));
  }
  EXPECT_THAT(Translated("a.json", "[\"\xFF\"]", Same), HasSubstr("file: is not valid UTF-8"));
  EXPECT_THAT(Translated("a.json", "[\"a\\u0000\"]", Same), HasSubstr("NUL"));
  EXPECT_THAT(Translated("a.json", std::string(1'000'000, '['), Same), HasSubstr("not valid JSON"));
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_EQ(Translated("a.json", deep, Same), deep);
}

TEST(JsonDocument, AFewBytesStandForNoMoreThanTheLimits) {
  std::string file = "[\"a\"";
  for (int i = 0; i < 1'000'000; ++i) file += ",\"a\"";
  EXPECT_THAT(Translated("a.json", file + "]", Same), HasSubstr("at most 10000 are allowed"));
}

}  // namespace
}  // namespace millrace::server
