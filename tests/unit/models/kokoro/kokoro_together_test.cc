// Requests that Kokoro speaks in one batch, as on an accelerator.

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "tests/unit/models/kokoro/kokoro_fixture.h"
#include "tests/unit/models/kokoro/sentence_comparison.h"

namespace millrace::kokoro {
namespace {

using KokoroTogetherTest = KokoroFixture;

// The ends of the requests in one batch, and their audio.
struct Ended {
  std::vector<absl::Status> statuses;
  std::vector<std::vector<std::vector<float>>> audio;  // by sentence
};

std::vector<std::vector<float>> SentencesOf(const speech::Collector& sink) {
  std::vector<std::vector<float>> sentences;
  for (const models::SynthesizeOutput& part : sink.parts) sentences.push_back(part.samples);
  return sentences;
}

Ended SpeakTogether(const models::Model& model,
                    const std::vector<models::SynthesizeInput>& inputs) {
  models::FakeWorkerContext context;
  std::deque<speech::Collector> sinks(inputs.size());
  std::deque<models::Request> requests;
  for (size_t i = 0; i < inputs.size(); ++i)
    requests.emplace_back(inputs[i], TimePoint::max(), sinks[i]);
  for (;;) {
    std::vector<models::Request*> unfinished;
    for (models::Request& request : requests) {
      if (!request.outcome()) unfinished.push_back(&request);
    }
    if (unfinished.empty()) break;
    const std::unique_ptr<models::Batch> batch = model.Prepare(unfinished);
    if (batch == nullptr) continue;
    batch->Forward(context);
    batch->Complete();
  }
  Ended ended;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ended.statuses.push_back(*requests[i].outcome());
    ended.audio.push_back(SentencesOf(sinks[i]));
  }
  return ended;
}

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
  const Ended ended = SpeakTogether(*model, inputs);
  SentenceComparison comparison;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ASSERT_TRUE(ended.statuses[i].ok()) << ended.statuses[i];
    speech::Collector sink;
    ASSERT_TRUE(speech::SpeakAll(*model, inputs[i], sink).ok());
    const std::vector<std::vector<float>> alone = SentencesOf(sink);
    ASSERT_EQ(ended.audio[i].size(), alone.size()) << i;
    for (size_t j = 0; j < alone.size(); ++j) comparison.Add(alone[j], ended.audio[i][j]);
  }
  EXPECT_NE(ended.audio[0], ended.audio[2]);  // their noise differs
}

TEST_F(KokoroTogetherTest, ACancelledRequestCostsTheBatchNothing) {
  context_.shapes = models::ShapePolicy::kPadded;
  const auto model = Load();
  models::FakeWorkerContext context;
  speech::Collector cancelled, heard;
  models::Request first(speech::Say("Hello there."), TimePoint::max(), cancelled);
  models::Request second(speech::Say("Good morning."), TimePoint::max(), heard);
  std::vector<models::Request*> requests = {&first, &second};
  const std::unique_ptr<models::Batch> batch = model->Prepare(requests);
  ASSERT_NE(batch, nullptr);
  cancelled.Cancel();
  batch->Forward(context);
  batch->Complete();
  EXPECT_TRUE(cancelled.parts.empty());
  EXPECT_FALSE(first.outcome());
  ASSERT_EQ(heard.parts.size(), 1U);
  EXPECT_TRUE(second.outcome() && second.outcome()->ok());
}

TEST_F(KokoroTogetherTest, AUnitThatLastsTooLongFailsAloneInItsBatch) {
  context_.shapes = models::ShapePolicy::kPadded;
  // Every phoneme lasts 2500 frames of 32 samples, 3.3 seconds; four characters are not cut.
  const auto model =
      Load({.durations = 2500, .values = {{"predictor.duration_proj.linear_layer.bias", 50.0F}}});
  const std::vector<models::SynthesizeInput> inputs = {speech::Say("7777"), speech::Say("one")};
  const Ended ended = SpeakTogether(*model, inputs);
  EXPECT_EQ(ended.statuses[0].code(), absl::StatusCode::kInvalidArgument) << ended.statuses[0];
  EXPECT_TRUE(ended.statuses[1].ok()) << ended.statuses[1];
  EXPECT_FALSE(ended.audio[1].empty());
}

}  // namespace
}  // namespace millrace::kokoro
