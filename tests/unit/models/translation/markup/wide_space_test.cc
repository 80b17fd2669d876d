#include "models/translation/markup/wide_space.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::translation {
namespace {

TEST(WideSpaceTest, IsOneSpaceThatComesBackAsItWas) {
  for (const std::string text : {"one\ntwo", "one\r\n  two", "one\n\ntwo\nthree"}) {
    MarkedText marked{.text = text};
    MarkWideSpaces(marked);
    EXPECT_EQ(marked.text, text.ends_with("three") ? "one two three" : "one two");
    EXPECT_EQ(Untouched(marked), text);
  }
}

TEST(WideSpaceTest, TakesTheMarksInsideWithIt) {
  MarkedText marked{.text = "one\n\ntwo", .events = {{4, MarkEvent::Kind::kAlone, "<br>"}}};
  MarkWideSpaces(marked);
  EXPECT_EQ(marked.text, "one two");
  EXPECT_EQ(Untouched(marked), "one\n<br>\ntwo");
}

TEST(WideSpaceTest, IsANoBreakSpace) {
  MarkedText plain{.text = "ten\u00a0km"};
  MarkWideSpaces(plain);
  EXPECT_EQ(plain.text, "ten km");
  EXPECT_EQ(Untouched(plain), "ten\u00a0km");
  MarkedText html{.text = "ten\u00a0km", .is_html = true};
  MarkWideSpaces(html);
  EXPECT_EQ(html.text, "ten km");
  EXPECT_EQ(html.events.size(), 1u);
}

TEST(WideSpaceTest, IsAnySpaceOfUnicode) {
  for (const std::string space : {"\u2009", "\u202f", "\u2003", "\u3000", " \u2009\u200a "}) {
    const std::string text = "ten" + space + "km – é";
    MarkedText marked{.text = text};
    MarkWideSpaces(marked);
    EXPECT_EQ(marked.text, "ten km – é");
    EXPECT_EQ(Untouched(marked), text);
  }
}

TEST(WideSpaceTest, IsOneOfZeroWidthBetweenWordsThatNeedSpaces) {
  MarkedText marked{.text = "Hello\u200BWorld"};
  MarkWideSpaces(marked);
  EXPECT_EQ(marked.text, "Hello World");
  EXPECT_EQ(Untouched(marked), "Hello\u200BWorld");
  const std::string thai = "\u0E01\u0E32\u200B\u0E21\u0E32";
  marked = {.text = thai};
  MarkWideSpaces(marked);
  EXPECT_EQ(marked.text, thai);
}

TEST(WideSpaceTest, MayBeWrittenAsAnyEntity) {
  for (const std::string written : {"&#x20;", "&#160;", "&#x2009;", "&#x3000;"}) {
    std::string space = "\u3000";
    if (written == "&#x20;") space = " ";
    MarkedText marked{.text = "one\n" + space + "two"};
    marked.spellings = {{4, 4 + space.size(), written}};
    MarkWideSpaces(marked);
    EXPECT_EQ(marked.text, "one two");
    EXPECT_EQ(Untouched(marked), "one\n" + written + "two");
  }
}

TEST(WideSpaceTest, IsNotWhatKeepsASignWithItsWord) {
  const std::string text = "«\u00a0so\u00a0», and so\u00a0!";
  MarkedText marked{.text = text, .is_html = true};
  MarkWideSpaces(marked);
  EXPECT_EQ(marked.text, text);
}

}  // namespace
}  // namespace millrace::translation
