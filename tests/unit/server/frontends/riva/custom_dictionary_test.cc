#include "server/frontends/riva/custom_dictionary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::server {
namespace {

using ::testing::HasSubstr;

std::string Applied(std::string_view list, std::string_view text) {
  const auto dictionary = CustomDictionary::Parse(list);
  EXPECT_TRUE(dictionary.ok()) << dictionary.status();
  return dictionary.ok() ? dictionary->Apply(text) : "";
}

TEST(CustomDictionaryTest, PronouncesWholeWords) {
  EXPECT_EQ(Applied("tomato  təmˈɑtO,NVIDIA  ɛnvˈɪdiə", "A tomato, tomatoes and NVIDIA's."),
            "A [tomato](/təmˈɑtO/), tomatoes and [NVIDIA](/ɛnvˈɪdiə/)'s.");
}

TEST(CustomDictionaryTest, LowerCaseMatchesAnyCaseAndCapitalsThemselves) {
  EXPECT_EQ(Applied("tomato  t,US  u", "Tomato us US"), "[Tomato](/t/) us [US](/u/)");
}

TEST(CustomDictionaryTest, TheLongestEntryIsTaken) {
  EXPECT_EQ(Applied("New  n, New York  njˈuɔɹk", "New York. New."),
            "[New York](/njˈuɔɹk/). [New](/n/).");
}

TEST(CustomDictionaryTest, WhiteSpaceAroundEntriesAndEmptyOnesAreIgnored) {
  EXPECT_EQ(Applied(" ,a   b ,, c  d e , ", "a c x"), "[a](/b/) [c](/d e/) x");
  EXPECT_TRUE(CustomDictionary::Parse(" , ")->empty());
  EXPECT_EQ(Applied("", "a [b] c"), "a [b] c");
}

TEST(CustomDictionaryTest, StaysWholeWhenItIsMoved) {
  auto parsed = CustomDictionary::Parse("a  b");
  ASSERT_TRUE(parsed.ok());
  CustomDictionary moved;
  moved = *std::move(parsed);
  EXPECT_EQ(moved.Apply("a"), "[a](/b/)");
}

TEST(CustomDictionaryTest, ABadEntryIsNamed) {
  const std::string many = [] {
    std::string list;
    for (int i = 0; i < 1001; ++i) list += "w" + std::to_string(i) + "  x,";
    return list;
  }();
  const std::pair<std::string, std::string> bad[] = {
      {"good  x,single space", "'single space' is not a word, two spaces"},
      {"word", "'word' is not a word, two spaces"},
      {std::string(101, 'w') + "  x", "has a word of 101 bytes; at most 100"},
      {"w  " + std::string(101, 'x'), "has phonemes of 101 bytes; at most 100"},
      {"w  x/)", "has one of []()/"},
      {"w]  x", "has one of []()/"},
      {std::string("w  x\0y", 6), "or a NUL"},
      {many, "more than 1000 entries"}};
  for (const auto& [list, words] : bad) {
    const auto dictionary = CustomDictionary::Parse(list);
    EXPECT_EQ(dictionary.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(dictionary.status().message()), HasSubstr("custom_dictionary: "));
    EXPECT_THAT(std::string(dictionary.status().message()), HasSubstr(words));
  }
}

}  // namespace
}  // namespace millrace::server
