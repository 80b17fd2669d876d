#include "models/speech/markup/tagged_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/unit/models/speech/markup/markup_fixture.h"

namespace millrace::speech {
namespace {

absl::StatusOr<MarkedText> ParseTags(const std::string& text, models::SpeechManner manner = {}) {
  const models::SpeechInfo info = TwoLanguages();
  return ParseTaggedText(text, {.info = info,
                                .model = "m",
                                .language = "",
                                .speed = 2,
                                .voice = "joe",
                                .manner = std::move(manner)});
}

std::string TagParts(const std::string& text) {
  const auto marked = ParseTags(text);
  return marked.ok() ? Shown(*marked) : std::string(marked.status().message());
}

TEST(TaggedTextTest, TagsHoldUntilTheNextOfTheirKind) {
  EXPECT_EQ(TagParts("a\n\nb"), "{|a\n\nb}");
  EXPECT_EQ(TagParts("a [pause:1.5s] b[pause:250ms]"), "{|a }{1.5s| b}0.25s");
  EXPECT_EQ(TagParts("[pause:1s][pause:500ms]a"), "{1.5s|a}");
  EXPECT_EQ(TagParts("[voice:ann]a[rate:80%]b[voice:luc]c[voice:default]d[rate:default]e"),
            "{ann|a}{ann x0.8|b}{luc x0.8|c}{x0.8|d}{|e}");
  EXPECT_EQ(TagParts("[volume:-6dB]a[volume:-6dB]b[volume:loud]c"), "{-6dB|ab}{3dB|c}");
}

TEST(TaggedTextTest, OtherBracketsAreText) {
  for (const std::string text :
       {"[1] [note: see below] [a] [:x] [pause:] [pause:1s", "[tomato](/təmˈɑtO/)", "[re:x](/a/)"})
    EXPECT_EQ(TagParts(text), "{|" + text + "}");
}

TEST(TaggedTextTest, WhatIsNotSupportedIsNamedWithItsPlace) {
  EXPECT_EQ(
      TagParts("é\né [laugh:loud]"),
      "text: line 2, column 3: the tag [laugh:loud]: is not supported; pause, voice, rate and "
      "volume are");
  EXPECT_EQ(TagParts("[pause:11s]"),
            "text: line 1, column 1: the tag [pause:11s]: '11s' is not allowed; it is a time of 0s "
            "to 10s, such as 1.5s or 500ms");
  EXPECT_EQ(TagParts("a[voice:bob]"),
            "text: line 1, column 2: the tag [voice:bob]: model 'm' has no voice 'bob'; it has: "
            "joe, ann, luc");
  EXPECT_EQ(TagParts("[rate:300%]a"),
            "text: line 1, column 1: the tag [rate:300%]: '300%' makes the speed 6; model 'm' has "
            "0.25..4");
}

TEST(TaggedTextTest, ATextGoesOnAsTheOneBeforeEnded) {
  const auto first = ParseTags("[voice:ann]a[rate:80%]");
  ASSERT_TRUE(first.ok());
  const auto second = ParseTags("b", first->manner_after);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(Shown(*second), "{ann x0.8|b}");
}

}  // namespace
}  // namespace millrace::speech
