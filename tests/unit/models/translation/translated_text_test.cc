// Translations of texts with all that belongs to them: lost content that is translated again, cuts
// of long sentences, marks, capitals, and other models in between.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "models/translation/translation_batch.h"
#include "tests/unit/models/translation/translation_batch_fixture.h"

namespace millrace::translation {
namespace {

using ::testing::ElementsAre;

TEST_F(TranslationBatchTest, EqualPartsOfASentenceAreTranslatedOnce) {
  limits_.max_source_tokens = 8;
  std::string text;
  for (int i = 0; i < 200; ++i) text += "the cat sat on the mat ";
  TranslationSink sink;
  const auto request = MakeRequest({{text}}, sink);
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), text);
  // Seven tokens each of a pattern of six.
  EXPECT_LE(std::ranges::max(engine_.calls), 7u);
}

TEST_F(TranslationBatchTest, WhatLosesContentIsTranslatedAgainInParts) {
  engine_.longest = 10;
  TranslationSink sink;
  const auto request = MakeRequest({{kLong, kShort}}, sink);
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), std::string(kLong) + kShort);
  for (const models::TranslateOutput& part : sink.parts) EXPECT_TRUE(part.lost.empty());
  EXPECT_EQ(std::ranges::count_if(sink.parts, &models::TranslateOutput::text_finished), 2);
  EXPECT_GE(sink.parts.size(), 3u);
}

TEST_F(TranslationBatchTest, WhatIsLostInTheSmallestPartsTooIsNamed) {
  engine_.longest = 0;
  engine_.forgetful_tokens = 0;
  TranslationSink sink;
  const auto request = MakeRequest({{kLong}}, sink);
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), kLong);  // as it is, because there is no translation
  for (const models::TranslateOutput& part : sink.parts) EXPECT_EQ(part.lost.size(), 1u);
}

TEST_F(TranslationBatchTest, WhatLoopsAndCannotBeDividedStaysAsItIs) {
  engine_.loops = true;
  TranslationSink sink;
  const auto request = MakeRequest({{"the cat sat on the mat"}}, sink);
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), "the cat sat on the mat");
  EXPECT_THAT(sink.parts.back().lost, ElementsAre("the cat sat on the mat"));
}

TEST_F(TranslationBatchTest, WhatWasSentStaysAndItsLossIsNamed) {
  engine_.longest = 10;
  engine_.forgetful_tokens = 5;
  TranslationSink sink;
  models::TranslateInput input{{kLong}};
  input.partial = true;
  const auto request = MakeRequest(std::move(input), sink);
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), std::string(kLong).substr(0, sink.Text().size()));
  EXPECT_THAT(sink.parts.back().lost, ElementsAre(kLong));
}

TEST_F(TranslationBatchTest, AStreamSendsWhatIsEasilyLostOnceItWasInspected) {
  engine_.longest = 12;
  const std::string text = std::string(kLong) + " and " + kLong;
  TranslationSink whole;
  TranslationSink stream;
  for (TranslationSink* sink : {&whole, &stream}) {
    const auto request = MakeRequest({.texts = {text}, .partial = sink == &stream}, *sink);
    while (!request->outcome()) Step({request.get()});
    for (const models::TranslateOutput& part : sink->parts) EXPECT_TRUE(part.lost.empty());
  }
  EXPECT_EQ(stream.Text(), text);
  EXPECT_EQ(stream.Text(), whole.Text());
}

TEST_F(TranslationBatchTest, ARequestsOwnLengthLimitIsNoLoss) {
  max_target_ = 4;
  TranslationSink sink;
  const auto request = MakeRequest({{kLong}}, sink);
  engine_.longest = 10;
  while (!request->outcome()) Step({request.get()});
  ASSERT_EQ(sink.parts.size(), 1u);
  EXPECT_TRUE(sink.parts[0].lost.empty());
}

TEST_F(TranslationBatchTest, ALongSentenceIsCutAtItsClauses) {
  limits_.max_source_tokens = 16;
  TranslationSink sink;
  const std::string text =
      "the cat sat on the mat and the cat sat on the mat and the cat sat on the mat";
  const auto request = MakeRequest({{text}}, sink);
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), text);
  ASSERT_GE(sink.parts.size(), 2u);
  for (size_t i = 0; i + 1 < sink.parts.size(); ++i)
    EXPECT_TRUE(sink.parts[i].text.ends_with("mat ")) << sink.parts[i].text;
}

TEST_F(TranslationBatchTest, CapitalsThatTheVocabularyLacksAreReadAsSmallLetters) {
  TranslationSink sink;
  const auto request = MakeRequest({{"THE CAT SAT."}}, sink);
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), "THE CAT SAT.");
  EXPECT_EQ(sink.parts[0].source_tokens, 4);
}

TEST_F(TranslationBatchTest, MarkupComesOutAroundWhatIsTranslated) {
  TranslationSink sink;
  models::TranslateInput input{{"<p>the <b>cat</b> sat</p> <p>one\n two</p>"}};
  input.format = models::TextFormat::kHtml;
  input.partial = true;
  const auto request = MakeRequest(std::move(input), sink);
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), "<p>the <b>cat</b> sat</p> <p>one\n two</p>");
  // A sentence with marks comes as a whole.
  for (const models::TranslateOutput& part : sink.parts) EXPECT_TRUE(part.sentence_finished);
}

TEST_F(TranslationBatchTest, ALongSentenceIsNotCutWithinItsMarks) {
  limits_.max_source_tokens = 8;
  TranslationSink sink;
  std::string text;
  for (int i = 0; i < 40; ++i) text += "the <i>cat {x}</i> sat ";
  models::TranslateInput input{{text}};
  input.format = models::TextFormat::kHtml;
  const auto request = MakeRequest(std::move(input), sink);
  while (!request->outcome()) Step({request.get()});
  const std::string got = sink.Text();
  size_t kept = 0;
  for (size_t at = got.find("{x}"); at != std::string::npos; at = got.find("{x}", at + 1)) ++kept;
  EXPECT_EQ(kept, 40u);
  EXPECT_EQ(std::ranges::count(got, '<'), 80);
}

TEST_F(TranslationBatchTest, ASentenceGoesToAnotherModelWithItsMarksAside) {
  const std::string page = "<p>the <b>cat</b> sat</p> <p>one\n <i>two</i></p>";
  TranslationSink first_sink;
  models::TranslateInput first{.texts = {page}, .format = models::TextFormat::kHtml};
  first.for_pivot = true;
  const auto first_request = MakeRequest(std::move(first), first_sink);
  while (!first_request->outcome()) Step({first_request.get()});
  EXPECT_EQ(first_sink.Text(), page);
  models::TranslateInput second{.texts = {}, .format = models::TextFormat::kHtml};
  for (const models::TranslateOutput& part : first_sink.parts) {
    ASSERT_NE(part.pivot_sentence, nullptr);
    second.texts.emplace_back("<i>is not read</i>");
    second.pivot_sentences.push_back(part.pivot_sentence);
  }
  TranslationSink second_sink;
  const auto second_request = MakeRequest(std::move(second), second_sink);
  while (!second_request->outcome()) Step({second_request.get()});
  EXPECT_EQ(second_sink.Text(), page);
  EXPECT_EQ(second_sink.parts.front().pivot_sentence, nullptr);
}

TEST_F(TranslationBatchTest, APlainSentenceGoesToAnotherModelAsText) {
  TranslationSink sink;
  models::TranslateInput input{{"the cat sat\n\nthe {x} sat"}};
  input.for_pivot = true;
  const auto request = MakeRequest(std::move(input), sink);
  while (!request->outcome()) Step({request.get()});
  ASSERT_EQ(sink.parts.size(), 2u);
  EXPECT_EQ(sink.parts[0].pivot_sentence, nullptr);
  EXPECT_NE(sink.parts[1].pivot_sentence, nullptr);
}

TEST_F(TranslationBatchTest, AFirstSentenceThatIsWantedSoonIsTranslatedAlone) {
  TranslationSink sink;
  std::string page = "<div><p>";
  for (int i = 0; i < 4; ++i) page += std::string(kLong) + ".\n<p>";
  models::TranslateInput input{.texts = {page}, .format = models::TextFormat::kHtml};
  input.first_soon = true;
  const auto request = MakeRequest(std::move(input), sink);
  const auto is_translated = [](const auto& part) { return part.target_tokens > 0; };
  while (std::ranges::none_of(sink.parts, is_translated)) Step({request.get()});
  EXPECT_EQ(std::ranges::max(engine_.calls), 1u);
  engine_.calls.clear();
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(engine_.calls.front(), 3u);
  EXPECT_EQ(sink.Text(), page);
}

}  // namespace
}  // namespace millrace::translation
