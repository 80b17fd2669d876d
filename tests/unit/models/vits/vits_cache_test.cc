// Sentences of a Piper voice that come from the cache, on a small random voice with the real
// espeak-ng.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "models/speech/speech_cache.h"
#include "tests/fakes/at_once.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/run_model.h"
#include "tests/unit/models/speech/same_speech.h"
#include "tests/unit/models/speech/speak.h"
#include "tests/unit/models/vits/vits_fixture.h"

namespace millrace::vits {
namespace {

constexpr char kLongSentence[] =
    "The first words of a long sentence are heard while the rest of it is still being made.";

class VitsCacheTest : public VitsFixture {
 protected:
  void SetUp() override { Write({.speakers = 2}); }

  void Write(const TinyVits& shape) {
    WriteTinyVits(folder_.path(), shape);
    plain_ = LoadWith(nullptr);
    cached_ = LoadWith(&cache_);
  }
  std::unique_ptr<models::Model> LoadWith(speech::SpeechCache* cache) {
    context_.caches.speech = cache;
    auto model = TryLoad();
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }
  uint64_t hits() const { return cache_.stats().hits; }
  size_t entries() const { return cache_.stats().entries; }

  speech::SpeechCache cache_{uint64_t{64} << 20};
  std::unique_ptr<models::Model> plain_;   // without a cache
  std::unique_ptr<models::Model> cached_;  // the same voice with one
};

TEST_F(VitsCacheTest, AHitIsWhatTheVoiceWouldSay) {
  const models::SynthesizeInput input = speech::SayWithTimes("Hello there. Good bye, my friend!");
  const auto expected = speech::OutputsOf(*plain_, input);
  ASSERT_EQ(expected.size(), 2U);
  speech::ExpectSame(speech::OutputsOf(*cached_, input), expected);
  EXPECT_EQ(hits(), 0U);
  EXPECT_EQ(entries(), 2U);
  speech::ExpectSame(speech::OutputsWithoutABatch(*cached_, input), expected);
  EXPECT_EQ(hits(), 2U);
}

TEST_F(VitsCacheTest, AListenerGetsTheChunksOfASentenceThatIsSpoken) {
  models::SynthesizeInput input =
      speech::SayWithTimes(std::string(kLongSentence) + " Then comes another.");
  input.speed = 0.5F;
  input.streamed = true;
  const auto expected = speech::OutputsOf(*plain_, input);
  ASSERT_GT(expected.size(), 3U);
  speech::ExpectSame(speech::OutputsOf(*cached_, input), expected);
  EXPECT_EQ(hits(), 0U);
  speech::ExpectSame(speech::OutputsWithoutABatch(*cached_, input), expected);
  EXPECT_EQ(hits(), 2U);
  input.streamed = false;
  speech::ExpectSame(speech::OutputsWithoutABatch(*cached_, input),
                     speech::OutputsOf(*plain_, input));
  EXPECT_EQ(hits(), 4U);
}

TEST_F(VitsCacheTest, AStreamUsesWhatWasSpokenAsAWhole) {
  models::SynthesizeInput input = speech::SayWithTimes(kLongSentence);
  speech::OutputsOf(*cached_, input);
  input.streamed = true;
  speech::ExpectSame(speech::OutputsWithoutABatch(*cached_, input),
                     speech::OutputsOf(*plain_, input));
  EXPECT_EQ(hits(), 1U);
}

TEST_F(VitsCacheTest, OtherSettingsAreOtherAudio) {
  speech::OutputsOf(*cached_, speech::Say(kLongSentence));
  const std::vector<std::function<void(models::SynthesizeInput&)>> changes = {
      [](models::SynthesizeInput& input) { input.text = "Hello here."; },
      [](models::SynthesizeInput& input) { input.voice = "speaker1"; },
      [](models::SynthesizeInput& input) { input.speed = 1.25F; },
      [](models::SynthesizeInput& input) { input.noise_scale = 0.1F; },
      [](models::SynthesizeInput& input) { input.noise_w = 0.1F; },
      [](models::SynthesizeInput& input) { input.seed = 1; },
      [](models::SynthesizeInput& input) { input.first_sentence = 1; }};
  for (size_t i = 0; i < changes.size(); ++i) {
    models::SynthesizeInput input = speech::Say(kLongSentence);
    changes[i](input);
    speech::ExpectSame(speech::OutputsOf(*cached_, input), speech::OutputsOf(*plain_, input));
    EXPECT_EQ(hits(), 0U) << i;
  }
}

TEST_F(VitsCacheTest, OtherSpeedsOfAShortSentenceAreStretchedFromTheSameAudio) {
  models::SynthesizeInput input = speech::SayWithTimes("Hello there.");
  speech::OutputsOf(*cached_, input);
  input.speed = 1.25F;
  speech::ExpectSame(speech::OutputsWithoutABatch(*cached_, input),
                     speech::OutputsOf(*plain_, input));
  EXPECT_EQ(hits(), 1U);
}

TEST_F(VitsCacheTest, PausesAndLevelsAreSetBehindTheCache) {
  models::SynthesizeInput input = speech::SayWithTimes("Hello there. Good bye.");
  speech::OutputsOf(*cached_, input);
  input.sentence_pause = 2;
  speech::ExpectSame(speech::OutputsWithoutABatch(*cached_, input),
                     speech::OutputsOf(*plain_, input));
  input.markup.parts = {{.begin = 0, .end = input.text.size(), .manner = {.gain_db = -6}}};
  speech::ExpectSame(speech::OutputsWithoutABatch(*cached_, input),
                     speech::OutputsOf(*plain_, input));
  EXPECT_EQ(hits(), 4U);
}

TEST_F(VitsCacheTest, AModelThatIsLoadedAgainBeginsAnew) {
  const models::SynthesizeInput input = speech::Say("Hello there.");
  speech::OutputsOf(*cached_, input);
  const auto again = LoadWith(&cache_);
  speech::OutputsOf(*again, input);
  EXPECT_EQ(hits(), 0U);
  speech::OutputsOf(*again, input);
  EXPECT_EQ(hits(), 1U);
}

TEST_F(VitsCacheTest, WithoutNoiseASentenceIsTheSameAnywhere) {
  models::SynthesizeInput input = speech::Say("No no no. No no no.");
  speech::OutputsOf(*cached_, input);
  EXPECT_EQ(hits(), 0U);
  input.noise_scale = 0;
  input.noise_w = 0;
  speech::ExpectSame(speech::OutputsOf(*cached_, input), speech::OutputsOf(*plain_, input));
  EXPECT_EQ(hits(), 1U);
}

TEST_F(VitsCacheTest, TheSentencesOfATextThatAreKnownAreReused) {
  speech::OutputsOf(*cached_, speech::Say("Hello there. Good bye."));
  const models::SynthesizeInput input = speech::SayWithTimes("Hello there. Come in. What a day!");
  speech::ExpectSame(speech::OutputsOf(*cached_, input), speech::OutputsOf(*plain_, input));
  EXPECT_EQ(hits(), 1U);
  EXPECT_EQ(entries(), 4U);
}

TEST_F(VitsCacheTest, ABatchHasOnlyRequestsThatAreNotCached) {
  const auto known = speech::OutputsOf(*cached_, speech::Say("Hello there."));
  const auto expected = speech::OutputsOf(*plain_, speech::Say("Two two."));
  speech::Collector known_sink;
  speech::Collector new_sink;
  models::FakeWorkerContext context;
  models::Request known_request(speech::Say("Hello there."), TimePoint::max(), known_sink);
  models::Request new_request(speech::Say("Two two."), TimePoint::max(), new_sink);
  std::vector<models::Request*> requests = {&known_request, &new_request};
  const auto batch = cached_->Prepare(requests);
  ASSERT_NE(batch, nullptr);
  ASSERT_TRUE(known_request.outcome());
  speech::ExpectSame(known_sink.parts, known);
  batch->Forward(context);
  batch->Complete();
  EXPECT_EQ(known_sink.parts.size(), 1U);
  speech::ExpectSame(new_sink.parts, expected);
}

TEST_F(VitsCacheTest, WhatIsCancelledIsNotKept) {
  for (const bool streamed : {false, true}) {
    models::SynthesizeInput input = speech::Say(kLongSentence);
    input.speed = 0.5F;
    input.streamed = streamed;
    speech::Collector sink;
    models::FakeWorkerContext context;
    models::Request request(input, TimePoint::max(), sink);
    std::vector<models::Request*> requests = {&request};
    if (streamed) {  // cancelled after the first chunk
      testing::RunStep(*cached_, requests);
      ASSERT_EQ(sink.parts.size(), 1U);
      ASSERT_FALSE(sink.parts[0].sentence_finished);
    }
    const auto batch = cached_->Prepare(requests);
    ASSERT_NE(batch, nullptr);
    sink.Cancel();
    batch->Forward(context);
    batch->Complete();
    EXPECT_EQ(entries(), 0U);
  }
}

TEST_F(VitsCacheTest, AStepThatFailedAndRanAgainIsKeptOnce) {
  models::SynthesizeInput input = speech::SayWithTimes(kLongSentence);
  input.speed = 0.5F;
  input.streamed = true;
  const auto expected = speech::OutputsOf(*plain_, input);
  speech::Collector sink;
  models::FakeWorkerContext context;
  models::Request request(input, TimePoint::max(), sink);
  std::vector<models::Request*> requests = {&request};
  while (!request.outcome()) {
    cached_->Prepare(requests)->Forward(context);  // its batch is dropped, as after an exception
    testing::RunStep(*cached_, requests);
  }
  speech::ExpectSame(sink.parts, expected);
  EXPECT_EQ(entries(), 1U);
  speech::ExpectSame(speech::OutputsWithoutABatch(*cached_, input), expected);
}

TEST_F(VitsCacheTest, TheHalvesOfASentenceThatWouldLastTooLongAreKept) {
  Write({.generator = 8, .strides = {8, 10}, .values = {{"dp.flows.0.m", -60.0F}}});
  const models::SynthesizeInput input = speech::Say("One two three four five six seven.");
  const auto expected = speech::OutputsOf(*plain_, input);
  ASSERT_GE(expected.size(), 2U);
  speech::ExpectSame(speech::OutputsOf(*cached_, input), expected);
  speech::ExpectSame(speech::OutputsOf(*cached_, input), expected);
}

TEST_F(VitsCacheTest, AWarmUpRuns) {
  for (int round = 0; round < 2; ++round) {
    for (const models::Input& input : cached_->WarmupInputs())
      speech::OutputsOf(*cached_, std::get<models::SynthesizeInput>(input));
  }
  EXPECT_EQ(hits() + cache_.stats().misses, 0U);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(VitsCacheTest, RequestsAtOnceSoundAsAlone) {
  constexpr int kThreads = 4;
  const std::vector<models::SynthesizeInput> inputs = {
      speech::SayWithTimes("One two three."), speech::SayWithTimes("Hello, world! Good bye.")};
  std::vector<std::vector<models::SynthesizeOutput>> alone;
  for (const models::SynthesizeInput& input : inputs)
    alone.push_back(speech::OutputsOf(*plain_, input));
  testing::AtOnce(kThreads, [&] {
    for (int round = 0; round < 5; ++round) {
      for (size_t i = 0; i < inputs.size(); ++i)
        speech::ExpectSame(speech::OutputsOf(*cached_, inputs[i]), alone[i]);
    }
  });
  EXPECT_EQ(entries(), 3U);
  EXPECT_EQ(hits() + cache_.stats().misses, 60U);
  EXPECT_GE(hits(), 48U);
}

}  // namespace
}  // namespace millrace::vits
