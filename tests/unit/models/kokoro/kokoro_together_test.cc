// Requests that Kokoro speaks in one batch, as on an accelerator.

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/models/kokoro/kokoro_fixture.h"
#include "tests/unit/models/kokoro/sentence_comparison.h"
#include "tests/unit/models/speech/speak_together.h"

namespace millrace::kokoro {
namespace {

using KokoroTogetherTest = KokoroFixture;

TEST_F(KokoroTogetherTest, ABatchSpeaksEachRequestAsAlone) {
  context_.shapes = models::ShapePolicy::kPadded;
  const auto model = Load({.durations = 12});
  std::vector<models::SynthesizeInput> inputs;
  for (const char* text : {"Hello there.", "One, two, three. Four!", "Hello there.", "Hi.",
                           "Good morning to all of you.", "Fine.", "Why? Because!", "One.", "Two.",
                           "Thank you very much."}) {
    inputs.push_back(speech::Say(text));
    inputs.back().seed = inputs.size();
  }
  inputs[4].voice = "anna+ben";
  inputs[5].speed = 0.5F;
  const speech::SpokenTogether ended = speech::SpeakTogether(*model, inputs);
  SentenceComparison comparison;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ASSERT_TRUE(ended.statuses[i].ok()) << ended.statuses[i];
    speech::Collector sink;
    ASSERT_TRUE(speech::SpeakAll(*model, inputs[i], sink).ok());
    const std::vector<std::vector<float>> alone = speech::SentencesOf(sink);
    ASSERT_EQ(ended.audio[i].size(), alone.size()) << i;
    for (size_t j = 0; j < alone.size(); ++j) comparison.Add(alone[j], ended.audio[i][j]);
  }
  EXPECT_NE(ended.audio[0], ended.audio[2]);  // their noise differs
}

TEST_F(KokoroTogetherTest, ACancelledRequestCostsTheBatchNothing) {
  context_.shapes = models::ShapePolicy::kPadded;
  speech::ExpectACancelledRequestCostsTheBatchNothing(*Load());
}

TEST_F(KokoroTogetherTest, AUnitThatLastsTooLongFailsAloneInItsBatch) {
  context_.shapes = models::ShapePolicy::kPadded;
  // Every phoneme lasts 2500 frames of 32 samples, 3.3 seconds; four characters are not cut.
  const auto model =
      Load({.durations = 2500, .values = {{"predictor.duration_proj.linear_layer.bias", 50.0F}}});
  const std::vector<models::SynthesizeInput> inputs = {speech::Say("7777"), speech::Say("one")};
  const speech::SpokenTogether ended = speech::SpeakTogether(*model, inputs);
  EXPECT_EQ(ended.statuses[0].code(), absl::StatusCode::kInvalidArgument) << ended.statuses[0];
  EXPECT_TRUE(ended.statuses[1].ok()) << ended.statuses[1];
  EXPECT_FALSE(ended.audio[1].empty());
}

}  // namespace
}  // namespace millrace::kokoro
