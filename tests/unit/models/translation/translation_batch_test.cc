#include "models/translation/translation_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/models/translation/translation_batch_fixture.h"

namespace millrace::translation {
namespace {

using std::chrono::milliseconds;

TEST_F(TranslationBatchTest, WorkLeftFallsWithEachStepToNothing) {
  models::TranslateInput input{.texts = {std::string(kLong) + ". " + kLong, kShort}};
  const double estimate = EstimateWork(input);
  EXPECT_GT(estimate, 2 * sizeof(kLong) + sizeof(kShort));
  TranslationSink sink;
  const auto request = MakeRequest(std::move(input), sink);
  Step({request.get()});
  double left = request->work_left();
  EXPECT_NEAR(left + request->work_done(), estimate, 0.2 * estimate);
  EXPECT_LT(left, estimate);
  while (true) {
    Step({request.get()});
    EXPECT_LT(request->work_left(), left);
    left = request->work_left();
    if (request->outcome()) break;
  }
  EXPECT_EQ(left, 0);
  EXPECT_NEAR(request->TakeWorkDone(), estimate, 0.2 * estimate);
}

TEST_F(TranslationBatchTest, TagsAreNoWorkAndEachHypothesisIs) {
  EXPECT_DOUBLE_EQ(
      EstimateWork({.texts = {"<p class='x'>ab</p>"}, .format = models::TextFormat::kHtml}),
      EstimateWork({.texts = {"ab"}}));
  EXPECT_DOUBLE_EQ(EstimateWork({.texts = {"ab"}, .search = {.beam_size = 4}}),
                   4 * EstimateWork({.texts = {"ab"}}));
}

TEST_F(TranslationBatchTest, AStepEndsWhenItsTimeIsOver) {
  TranslationSink sink;
  const auto request = MakeRequest({{kLong}}, sink);
  Step({request.get()});
  EXPECT_EQ(engine_.calls.size(), 3u);  // calls of 1, 2 and 4 tokens
  EXPECT_TRUE(sink.parts.empty());
  EXPECT_FALSE(request->outcome());
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), kLong);
  ASSERT_EQ(sink.parts.size(), 1u);
  EXPECT_EQ(sink.parts[0].target_tokens, 18);
}

TEST_F(TranslationBatchTest, AnEngineHasItsOwnNumberOfTokensInACall) {
  engine_.together = 2;
  TranslationSink sink;
  const auto request = MakeRequest({{kLong}}, sink);
  Step({request.get()});
  EXPECT_EQ(engine_.calls.size(), 2u);
  // The first token of a stream does not wait for a second.
  TranslationSink stream_sink;
  const auto stream = MakeRequest({.texts = {kLong}, .partial = true}, stream_sink);
  engine_.calls.clear();
  Step({stream.get()});
  EXPECT_EQ(engine_.calls.size(), 2u);  // each has one token
  EXPECT_FALSE(stream_sink.parts.empty());
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), kLong);
}

TEST_F(TranslationBatchTest, AStepMakesRoomOnceMoreThanAQuarterHasEnded) {
  limits_.time = milliseconds(1000);
  for (const size_t together : {1, 2}) {
    engine_.together = together;
    TranslationSink sinks[4];
    std::vector<std::unique_ptr<models::Request>> requests;
    std::vector<models::Request*> all;
    for (size_t i = 0; i < 4; ++i) {
      requests.push_back(MakeRequest({{i < 2 ? kShort : kLong}}, sinks[i]));
      all.push_back(requests.back().get());
    }
    Step(all);
    EXPECT_EQ(sinks[1].Text(), kShort);
    // An engine that is faster for fewer sentences goes on with those that are left.
    EXPECT_EQ(requests[3]->outcome().has_value(), together == 1);
    while (!requests[3]->outcome()) Step({requests[2].get(), requests[3].get()});
    EXPECT_EQ(sinks[3].Text(), kLong);
  }
}

TEST_F(TranslationBatchTest, ARequestThatWasPreparedAheadIsTranslatedTheSame) {
  const std::string text = std::string(kLong) + ". The cat. " + kShort;
  std::string texts[2];
  for (const bool ahead : {false, true}) {
    TranslationSink sink;
    const auto request = MakeRequest({.texts = {text, kShort}}, sink);
    if (ahead) {
      TranslationBatch::PrepareAhead(*request, Settings(), limits_.max_source_tokens, vocabularies_,
                                     cache_);
      ASSERT_NE(request->state(), nullptr);
      EXPECT_EQ(static_cast<TranslationPlan*>(request->state())->units().size(), 1u);
    }
    while (!request->outcome()) Step({request.get()});
    EXPECT_TRUE(request->outcome()->ok());
    texts[ahead ? 1 : 0] = sink.Text();
  }
  EXPECT_FALSE(texts[0].empty());
  EXPECT_EQ(texts[1], texts[0]);
}

TEST_F(TranslationBatchTest, OthersJoinAndLeaveWhileOneIsAtWork) {
  TranslationSink long_sink;
  TranslationSink short_sink;
  const auto long_request = MakeRequest({{kLong}}, long_sink);
  const auto short_request = MakeRequest({{kShort}}, short_sink);
  Step({long_request.get()});
  Step({long_request.get(), short_request.get()});
  ASSERT_TRUE(short_request->outcome());
  EXPECT_EQ(short_sink.Text(), kShort);
  EXPECT_FALSE(long_request->outcome());
  while (!long_request->outcome()) Step({long_request.get()});
  EXPECT_EQ(long_sink.Text(), kLong);
}

TEST_F(TranslationBatchTest, ALongTextLeavesRoomForThoseWhoCome) {
  limits_.max_rows = 4;
  std::string document;
  for (int i = 0; i < 40; ++i) document += "The cat sat on the mat.\n";
  TranslationSink sinks[3];
  const auto one = MakeRequest({{document}}, sinks[0]);
  const auto two = MakeRequest({{document}}, sinks[1]);
  Step({one.get()});
  EXPECT_THAT(engine_.calls.front(), 4u);
  engine_.calls.clear();
  Step({one.get(), two.get()});
  EXPECT_EQ(engine_.calls.front(), 5u);  // one for the newcomer, though all places are taken
  while (sinks[1].parts.empty()) Step({one.get(), two.get()});
  engine_.calls.clear();
  Step({one.get(), two.get()});
  EXPECT_EQ(engine_.calls.front(), 4u);
  while (!one->outcome() || !two->outcome()) {
    std::vector<models::Request*> unfinished;
    for (models::Request* request : {one.get(), two.get()}) {
      if (!request->outcome()) unfinished.push_back(request);
    }
    Step(unfinished);
    for (const size_t size : engine_.calls) EXPECT_LE(size, 5u);
  }
  EXPECT_EQ(sinks[0].parts.size(), 40u);
  // Both had as many places.
  EXPECT_EQ(sinks[1].Text(), sinks[0].Text());
}

TEST_F(TranslationBatchTest, HypothesesCountAsSentencesDo) {
  limits_.max_rows = 8;
  search_.beam_size = 4;
  std::string document;
  for (int i = 0; i < 40; ++i) document += "the cat sat on the mat\n";
  TranslationSink sink;
  const auto request = MakeRequest({{document}}, sink);
  Step({request.get()});
  EXPECT_EQ(engine_.calls.front(), 2u);
  Step({request.get()});
  EXPECT_EQ(engine_.calls.back(), 2u);
}

TEST_F(TranslationBatchTest, AStepEndsWhenNothingCanBegin) {
  TranslationSink sink;
  const auto request = MakeRequest({{kLong}}, sink);
  engine_.full = true;
  Step({request.get()});
  EXPECT_EQ(engine_.calls.size(), 1u);
  engine_.full = false;
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), kLong);
}

TEST_F(TranslationBatchTest, WhatIsBegunAtOnceIsBoundedByItsTokens) {
  limits_.max_step_tokens = 20;
  std::string document;
  for (int i = 0; i < 40; ++i) document += "the cat sat on the mat\n";
  TranslationSink sink;
  const auto request = MakeRequest({{document}}, sink);
  Step({request.get()});
  EXPECT_EQ(engine_.calls.front(), 3u);  // 7 tokens, with their end
}

TEST_F(TranslationBatchTest, PartsComeAsTheyAreDecided) {
  TranslationSink sink;
  const auto request = MakeRequest({.texts = {kLong}, .partial = true}, sink);
  Step({request.get()});
  ASSERT_EQ(sink.parts.size(), 1u);  // ended for the first token's sake
  EXPECT_LE(engine_.calls.size(), 2u);
  EXPECT_FALSE(sink.parts[0].sentence_finished);
  EXPECT_FALSE(sink.parts[0].text_finished);
  while (!request->outcome()) {
    Step({request.get()});
    EXPECT_TRUE(std::string(kLong).starts_with(sink.Text()));
  }
  EXPECT_EQ(sink.Text(), kLong);
  EXPECT_GT(sink.parts.size(), 3u);
  EXPECT_TRUE(sink.parts.back().text_finished);
  EXPECT_TRUE(sink.parts.back().sentence_finished);
  EXPECT_EQ(sink.parts.back().target_tokens, 18);
}

TEST_F(TranslationBatchTest, NobodyWaitsForTheFirstTokenOfWhatIsCopied) {
  TranslationSink sink;
  const auto request = MakeRequest({.texts = {"\xE6\xBC\xA2", kLong}, .partial = true}, sink);
  Step({request.get()});
  EXPECT_EQ(engine_.calls.size(), 3u);  // calls of 1, 2 and 4 tokens
}

TEST_F(TranslationBatchTest, WhatFailedHalfwayBeginsAnew) {
  TranslationSink sink;
  const auto request = MakeRequest({.texts = {kLong}, .partial = true}, sink);
  Step({request.get()});
  engine_.fail_after_tokens = 6;
  EXPECT_THROW(
      {
        for (;;) Step({request.get()});
      },
      std::runtime_error);
  EXPECT_FALSE(sink.parts.empty());
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), kLong);
}

TEST_F(TranslationBatchTest, ADroppedBatchLosesNothing) {
  TranslationSink sink;
  const auto request = MakeRequest({{kLong, kShort}}, sink);
  Prepare({request.get()});
  Prepare({request.get()})->Forward(context_);
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), std::string(kLong) + kShort);
}

TEST_F(TranslationBatchTest, ACallerWhoLeavesTakesHisSentencesAlong) {
  TranslationSink sinks[2];
  const auto leaver = MakeRequest({{kLong, kLong}}, sinks[0]);
  const auto other = MakeRequest({{kLong}}, sinks[1]);
  Step({leaver.get(), other.get()});
  sinks[0].Cancel();
  Step({leaver.get(), other.get()});
  ASSERT_TRUE(leaver->outcome());
  EXPECT_EQ(leaver->outcome()->code(), absl::StatusCode::kCancelled);
  while (!other->outcome()) Step({other.get()});
  EXPECT_EQ(sinks[1].Text(), kLong);
}

TEST_F(TranslationBatchTest, NeitherCompanyNorACacheChangesWhatAStreamSays) {
  engine_.longest = 12;
  limits_.max_rows = 4;
  const auto translate = [this](size_t company) {
    std::vector<TranslationSink> sinks(company + 1);
    std::vector<std::unique_ptr<models::Request>> requests;
    requests.push_back(
        MakeRequest({.texts = {"the cat sat on\n\nthe cat sat on the mat and the dog "
                               "ran on the mat on the cat sat on the mat"},
                     .partial = true},
                    sinks[0]));
    for (size_t i = 1; i <= company; ++i)
      requests.push_back(MakeRequest({.texts = {"the cat sat on", "the dog ran on"}}, sinks[i]));
    std::vector<models::Request*> at_work;
    for (const auto& request : requests) at_work.push_back(request.get());
    while (!at_work.empty()) {
      Step(at_work);
      std::erase_if(at_work, [](const models::Request* request) { return request->outcome(); });
    }
    std::string text = sinks[0].Text();
    for (const models::TranslateOutput& part : sinks[0].parts)
      for (const std::string& lost : part.lost) text += " lost: " + lost;
    return text;
  };
  const std::string alone = translate(0);
  EXPECT_THAT(alone, ::testing::HasSubstr("lost: the cat sat on the mat and"));
  for (const size_t company : {1, 3, 8}) EXPECT_EQ(translate(company), alone);
  TranslationCache cache({uint64_t{1} << 20, 100});
  cache_ = cache.MakeForModel();
  EXPECT_EQ(translate(0), alone);
  EXPECT_EQ(translate(0), alone);
  EXPECT_GT(cache.stats().hits, 0u);
}

TEST_F(TranslationBatchTest, WhatACacheKnowsNeverReachesTheEngine) {
  TranslationCache cache({uint64_t{1} << 20, 100});
  cache_ = cache.MakeForModel();
  std::string first;
  for (int round = 0; round < 2; ++round) {
    TranslationSink sink;
    const auto request = MakeRequest({{"the cat sat.  the dog\nran"}}, sink);
    while (!request->outcome()) Step({request.get()});
    EXPECT_TRUE(request->outcome()->ok());
    ASSERT_EQ(sink.parts.size(), 3u);  // two spaces divide, too
    EXPECT_GT(sink.parts[0].source_tokens, 0);
    EXPECT_GT(sink.parts[0].target_tokens, 0);
    if (round == 0) {
      first = sink.Text();
      engine_.calls.clear();
    } else {
      EXPECT_EQ(sink.Text(), first);
    }
  }
  EXPECT_TRUE(engine_.calls.empty());
  // A word that comes out as it was is looked for within its carrier sentence and a command as
  // well.
  EXPECT_EQ(cache.stats().hits, 5u);
}

TEST_F(TranslationBatchTest, AWarmUpRunsWhateverACacheKnows) {
  TranslationCache cache({uint64_t{1} << 20, 100});
  cache_ = cache.MakeForModel();
  for (int round = 0; round < 2; ++round) {
    engine_.calls.clear();
    TranslationSink sink;
    models::TranslateInput input{{kShort}};
    input.use_cache = false;
    const auto request = MakeRequest(std::move(input), sink);
    while (!request->outcome()) Step({request.get()});
    EXPECT_FALSE(engine_.calls.empty());
  }
  EXPECT_EQ(cache.stats().entries + cache.stats().misses, 0u);
}

TEST_F(TranslationBatchTest, ASentenceThatWasStoppedIsNotRemembered) {
  TranslationCache cache({uint64_t{1} << 20, 100});
  cache_ = cache.MakeForModel();
  TranslationSink sink;
  const auto request = MakeRequest({{kLong}}, sink);
  Step({request.get()});
  sink.Cancel();
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(cache.stats().entries, 0u);
}

}  // namespace
}  // namespace millrace::translation
