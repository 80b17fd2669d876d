#include "models/speech/markup/ssml_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "models/speech/markup/ssml.h"
#include "tests/unit/models/speech/markup/markup_fixture.h"

namespace millrace::speech {
namespace {

using ::testing::ElementsAre;

// Returns what the stream returned of parts that came one after another.
std::vector<std::string> Pieces(std::initializer_list<const char*> parts) {
  SsmlStream stream;
  std::vector<std::string> pieces;
  const auto add = [&pieces](std::string piece) {
    if (!piece.empty()) pieces.push_back(std::move(piece));
  };
  for (const char* part : parts) add(stream.Push(part));
  add(stream.TakeRest());
  return pieces;
}

TEST(SsmlStreamTest, ASentenceIsWholeWhenTheNextBegins) {
  EXPECT_THAT(Pieces({"It is ", "done. ", "We ", "go."}), ElementsAre("It is done. ", "We go."));
  EXPECT_THAT(Pieces({"One. Two. Three"}), ElementsAre("One. Two. ", "Three"));
}

TEST(SsmlStreamTest, ATagMayBeSplitOverParts) {
  EXPECT_THAT(Pieces({"One. <bre", "ak time='1", "s'/> Two", ". Three"}),
              ElementsAre("One. <break time='1s'/> ", "Two. ", "Three"));
  EXPECT_THAT(Pieces({"A <sub alias='x > y'", ">B</su", "b> c. D"}),
              ElementsAre("A <sub alias='x > y'>B</sub> c. ", "D"));
}

TEST(SsmlStreamTest, ASentenceWithinAnElementWaitsForItsEnd) {
  EXPECT_THAT(Pieces({"One. <prosody rate='fast'>Two. ", "Three. ", "Four.</prosody> ", "Five"}),
              ElementsAre("One. ", "<prosody rate='fast'>Two. Three. Four.</prosody> ", "Five"));
  EXPECT_THAT(Pieces({"<speak>One. ", "Two. ", "</speak>"}),
              ElementsAre("<speak>One. Two. </speak>"));
}

TEST(SsmlStreamTest, ASentenceEndsBeforeAnElementThoughMoreCameAtOnce) {
  EXPECT_THAT(Pieces({"One. <voice name='ann'>Two. Three. Four", "</voice>"}),
              ElementsAre("One. ", "<voice name='ann'>Two. Three. Four</voice>"));
}

TEST(SsmlStreamTest, ParagraphsAndSentencesEndByTheirTags) {
  EXPECT_THAT(Pieces({"<s>one</s>", "<s>two</s>", "three", "<p>four", "</p>"}),
              ElementsAre("<s>one</s>", "<s>two</s>", "three", "<p>four</p>"));
}

TEST(SsmlStreamTest, EntitiesAndCommentsAreOfTheirSentence) {
  EXPECT_THAT(Pieces({"Tom &am", "p; Jerry. &quot;No.&quot; Yes"}),
              ElementsAre("Tom &amp; Jerry. &quot;No.&quot; ", "Yes"));
  EXPECT_THAT(Pieces({"A <!-- b. C ", "--> d. E"}), ElementsAre("A <!-- b. C --> d. ", "E"));
  EXPECT_THAT(Pieces({"A <![CDATA[<b. ", "C]]> d. E"}),
              ElementsAre("A <![CDATA[<b. C]]> d. ", "E"));
}

TEST(SsmlStreamTest, TakeWholeLeavesWhatIsOpen) {
  SsmlStream stream;
  EXPECT_EQ(stream.Push("and then <prosody rate='fast'>this"), "");
  EXPECT_EQ(stream.TakeWhole(), "and then ");
  // The flush ended a sentence there.
  EXPECT_EQ(stream.Push("</prosody> and"), "<prosody rate='fast'>this</prosody> ");
  EXPECT_EQ(stream.TakeWhole(), "and");
  EXPECT_EQ(stream.Push(" more <br"), " ");
  EXPECT_EQ(stream.TakeWhole(), "more ");
  EXPECT_EQ(stream.Push("eak/>."), "<break/>");
  EXPECT_EQ(stream.TakeWhole(), ".");
  EXPECT_EQ(stream.TakeRest(), "");
}

TEST(SsmlStreamTest, WhatNeverEndsIsNotKept) {
  SsmlStream tag;
  EXPECT_EQ(tag.Push("<break " + std::string(SsmlStream::kMaxTagBytes, ' ')).size(),
            SsmlStream::kMaxTagBytes + 7);
  SsmlStream element;
  std::string text = "<prosody rate='1'>";
  while (text.size() <= SsmlStream::kMaxElementBytes) text += "One sentence. ";
  EXPECT_EQ(element.Push(text), text);
  EXPECT_EQ(element.TakeRest(), "");
  SsmlStream tags;
  size_t returned = 0;
  for (int i = 0; i < 20'000; ++i) returned += tags.Push("<break/>").size();
  EXPECT_GE(returned, 20'000 * 8 - 2 * SsmlStream::kMaxElementBytes);
}

// However the text is cut into parts, the pieces are the text, and each can be parsed.
TEST(SsmlStreamTest, PiecesAreTheTextAndEachIsWhole) {
  const std::string text =
      "<p>One &amp; two. Three.</p> <break time=\"1s\"/>Four <sub alias='5'>V</sub>. <speak>Six. "
      "<voice name='ann'>Seven.</voice></speak> Eight <!-- 9. Nine --> &#233;. Ten.";
  const models::SpeechInfo info = TwoLanguages();
  const MarkupContext context = {.info = info, .model = "m", .language = "", .voice = "joe"};
  for (size_t size = 1; size < text.size(); ++size) {
    SsmlStream stream;
    std::string all;
    std::vector<std::string> pieces;
    for (size_t at = 0; at < text.size(); at += size)
      pieces.push_back(stream.Push(text.substr(at, size)));
    pieces.push_back(stream.TakeRest());
    for (const std::string& piece : pieces) {
      EXPECT_TRUE(ParseSsmlFragment(piece, context).ok()) << size << ": " << piece;
      all += piece;
    }
    EXPECT_EQ(all, text) << size;
  }
}

}  // namespace
}  // namespace millrace::speech
