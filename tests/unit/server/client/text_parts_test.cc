#include "server/client/text_parts.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "models/text/unicode.h"

namespace millrace {
namespace {

// Returns the parts, and expects that together they are the text, and none is too long.
std::vector<TextPart> Divided(std::string_view text, size_t characters, bool markdown = false) {
  std::vector<TextPart> parts = DivideText(text, characters, markdown);
  std::string joined;
  for (const TextPart& part : parts) {
    EXPECT_LE(models::CountCodePoints(part.text), characters);
    EXPECT_TRUE(models::IsValidUtf8(std::string(part.text)));
    joined += part.text;
    joined += part.space;
  }
  EXPECT_EQ(joined, text);
  return parts;
}

TEST(TextPartsTest, PartsEndBetweenParagraphs) {
  const auto parts = Divided("One. Two.\n\nThree.\nFour.\n\n\nFive.\n", 20);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].text, "One. Two.");
  EXPECT_EQ(parts[0].space, "\n\n");
  EXPECT_EQ(parts[1].text, "Three.\nFour.");
  EXPECT_EQ(parts[2].text, "Five.");
}

TEST(TextPartsTest, LongParagraphsEndBetweenLinesSentencesAndWords) {
  EXPECT_EQ(Divided("One two three\nfour five six seven", 20)[0].text, "One two three");
  EXPECT_EQ(Divided("One two. Three four five six", 20)[0].text, "One two.");
  EXPECT_EQ(Divided("one two three four five six", 20)[0].text, "one two three four");
}

TEST(TextPartsTest, WhatHasNoSpaceIsDividedBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "\xE3\x81\x82";
  EXPECT_EQ(Divided(text, 20).size(), 3U);
  Divided(std::string(100, ' '), 20);
  Divided("", 20);
  Divided("\n\n\n", 2);
}

TEST(TextPartsTest, CodeStaysWhole) {
  const auto parts = Divided("Text.\n\n```\na\n\nb\n```\n\nMore text.", 15, /*markdown=*/true);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[1].text, "```\na\n\nb\n```");
}

TEST(TextPartsTest, IndentationStaysWithItsLine) {
  const auto parts = Divided("Some text here.\n\n    indented", 20);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[1].text, "    indented");
}

}  // namespace
}  // namespace millrace
