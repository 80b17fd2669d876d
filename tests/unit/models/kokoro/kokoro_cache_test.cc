// Sentences of Kokoro that come from the cache.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "models/speech/speech_cache.h"
#include "tests/unit/models/kokoro/kokoro_fixture.h"
#include "tests/unit/models/speech/same_speech.h"

namespace millrace::kokoro {
namespace {

class KokoroCacheTest : public KokoroFixture {
 protected:
  // Loads the voice without a cache and with one.
  void LoadBoth() {
    context_.caches.speech = nullptr;
    plain_ = Load();
    cached_ = LoadWithCache();
  }
  std::unique_ptr<models::Model> LoadWithCache() {
    context_.caches.speech = &speech_;
    auto model = TryLoadAgain();
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }
  uint64_t hits() const { return speech_.stats().hits; }
  size_t entries() const { return speech_.stats().entries; }

  speech::SpeechCache speech_{uint64_t{64} << 20};
  std::unique_ptr<models::Model> plain_;
  std::unique_ptr<models::Model> cached_;
};

TEST_F(KokoroCacheTest, AHitIsWhatTheVoiceWouldSay) {
  for (const auto shapes : {models::ShapePolicy::kExact, models::ShapePolicy::kPadded}) {
    context_.shapes = shapes;
    LoadBoth();
    const uint64_t before = hits();
    for (const bool streamed : {false, true}) {
      models::SynthesizeInput input =
          speech::SayWithTimes("Good morning, my friend, how are you? One, two!");
      input.streamed = streamed;
      input.seed = streamed ? 1 : 0;
      SCOPED_TRACE(::testing::Message() << "padded " << (shapes == models::ShapePolicy::kPadded)
                                        << ", streamed " << streamed);
      const auto made = speech::OutputsOf(*cached_, input);
      speech::ExpectSame(speech::OutputsWithoutABatch(*cached_, input), made);
      // Padded batches run in ATen, whose rounding differs from one load of a model to the next.
      if (shapes == models::ShapePolicy::kExact)
        speech::ExpectSame(made, speech::OutputsOf(*plain_, input));
      ASSERT_GE(made.size(), 2U);
    }
    EXPECT_GE(hits(), before + 4);
  }
}

TEST_F(KokoroCacheTest, OtherSettingsAreOtherAudio) {
  LoadBoth();
  speech::OutputsOf(*cached_, speech::Say("Hello there."));
  const std::vector<std::function<void(models::SynthesizeInput&)>> changes = {
      [](models::SynthesizeInput& input) { input.text = "Hello here."; },
      [](models::SynthesizeInput& input) { input.voice = "ben"; },
      [](models::SynthesizeInput& input) { input.voice = "anna:0.3+ben:0.7"; },
      [](models::SynthesizeInput& input) { input.voice = "anna:0.4+ben:0.6"; },
      [](models::SynthesizeInput& input) { input.seed = 1; },
      [](models::SynthesizeInput& input) { input.first_sentence = 1; }};
  for (size_t i = 0; i < changes.size(); ++i) {
    models::SynthesizeInput input = speech::Say("Hello there.");
    changes[i](input);
    speech::ExpectSame(speech::OutputsOf(*cached_, input), speech::OutputsOf(*plain_, input));
    EXPECT_EQ(hits(), 0U) << i;
  }
  // Other speeds are stretched from the same audio.
  models::SynthesizeInput faster = speech::SayWithTimes("Hello there.");
  faster.speed = 1.25F;
  speech::ExpectSame(speech::OutputsWithoutABatch(*cached_, faster),
                     speech::OutputsOf(*plain_, faster));
  EXPECT_EQ(hits(), 1U);
  // A voice by its name and the default are the same.
  models::SynthesizeInput named = speech::Say("Hello there.");
  named.voice = "anna";
  speech::OutputsWithoutABatch(*cached_, named);
  EXPECT_EQ(hits(), 2U);
}

TEST_F(KokoroCacheTest, AModelThatIsLoadedAgainBeginsAnew) {
  LoadBoth();
  speech::OutputsOf(*cached_, speech::Say("Hello there."));
  speech::OutputsOf(*LoadWithCache(), speech::Say("Hello there."));
  EXPECT_EQ(hits(), 0U);
}

TEST_F(KokoroCacheTest, TheSentencesOfATextThatAreKnownAreReused) {
  LoadBoth();
  speech::OutputsOf(*cached_, speech::Say("Hello there. Good bye."));
  const models::SynthesizeInput input = speech::SayWithTimes("Hello there. One. Two!");
  speech::ExpectSame(speech::OutputsOf(*cached_, input), speech::OutputsOf(*plain_, input));
  EXPECT_EQ(hits(), 1U);
  EXPECT_EQ(entries(), 4U);
}

TEST_F(KokoroCacheTest, WhatIsCancelledIsNotKept) {
  for (const auto shapes : {models::ShapePolicy::kExact, models::ShapePolicy::kPadded}) {
    context_.shapes = shapes;
    LoadBoth();
    speech::Collector sink;
    models::FakeWorkerContext context;
    models::Request request(speech::Say("Hello there."), TimePoint::max(), sink);
    std::vector<models::Request*> requests = {&request};
    const auto batch = cached_->Prepare(requests);
    ASSERT_NE(batch, nullptr);
    sink.Cancel();
    batch->Forward(context);
    batch->Complete();
    EXPECT_EQ(entries(), 0U);
  }
}

TEST_F(KokoroCacheTest, AWarmUpRuns) {
  context_.shapes = models::ShapePolicy::kFew;
  LoadBoth();
  for (const models::Input& input : cached_->WarmupInputs())
    EXPECT_FALSE(std::get<models::SynthesizeInput>(input).use_cache);
}

}  // namespace
}  // namespace millrace::kokoro
