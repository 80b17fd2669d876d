// Requests that a Piper voice speaks in one batch, as on an accelerator.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/core/request.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/unit/models/speech/speak.h"
#include "tests/unit/models/vits/vits_fixture.h"

namespace millrace::vits {
namespace {

class VitsTogetherTest : public VitsFixture {
 protected:
  std::unique_ptr<models::Model> LoadBatch(const TinyVits& shape = {}) {
    context_.shapes = models::ShapePolicy::kPadded;
    return Load(shape);
  }
  std::unique_ptr<models::Model> LoadAlone(const TinyVits& shape = {}) {
    context_.shapes = models::ShapePolicy::kExact;
    return Load(shape);
  }
};

// The ends of the requests in one batch, and their audio by sentence.
struct SpokenTogether {
  std::vector<absl::Status> statuses;
  std::vector<std::vector<std::vector<float>>> audio;
};

std::vector<std::vector<float>> PartsOf(const speech::Collector& sink) {
  std::vector<std::vector<float>> sentences;
  for (const models::SynthesizeOutput& part : sink.parts) sentences.push_back(part.samples);
  return sentences;
}

SpokenTogether SpeakAllTogether(const models::Model& model,
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
  SpokenTogether spoken;
  for (size_t i = 0; i < inputs.size(); ++i) {
    spoken.statuses.push_back(*requests[i].outcome());
    spoken.audio.push_back(PartsOf(sinks[i]));
  }
  return spoken;
}

float Furthest(const std::vector<float>& expected, const std::vector<float>& actual) {
  if (expected.size() != actual.size()) return INFINITY;
  float furthest = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    furthest = std::max(furthest, std::abs(expected[i] - actual[i]));
  return furthest;
}

// Every setting of a request reaches its own sentence.
TEST_F(VitsTogetherTest, ABatchSpeaksEachRequestAsTheProcessorDoes) {
  const TinyVits shape = {.speakers = 3};
  const auto batch = LoadBatch(shape);
  const auto alone = LoadAlone(shape);
  const std::vector<std::string> voices = batch->info().speech().voices;
  ASSERT_EQ(voices.size(), 3U);
  std::vector<models::SynthesizeInput> inputs;
  for (const char* text : {"Hello there.", "One, two, three. Four!", "Hello there.", "Hi.",
                           "Good morning to all of you.", "Fine.", "Why? Because!", "One.", "Two.",
                           "Thank you very much."}) {
    inputs.push_back(speech::Say(text));
    inputs.back().seed = inputs.size();
    inputs.back().voice = voices[inputs.size() % 3];
  }
  inputs[4].noise_scale = 0.9F;
  inputs[5].speed = 0.5F;
  inputs[6].noise_w = 1.1F;
  inputs[7].noise_w = 0;
  inputs[8].noise_scale = 0;
  inputs[9].speed = 3;
  inputs[9].streamed = true;
  const SpokenTogether spoken = SpeakAllTogether(*batch, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    ASSERT_TRUE(spoken.statuses[i].ok()) << spoken.statuses[i];
    inputs[i].streamed = false;
    speech::Collector sink;
    ASSERT_TRUE(speech::SpeakAll(*alone, inputs[i], sink).ok());
    const std::vector<std::vector<float>> expected = PartsOf(sink);
    ASSERT_EQ(spoken.audio[i].size(), expected.size()) << i;
    for (size_t j = 0; j < expected.size(); ++j)
      EXPECT_LE(Furthest(expected[j], spoken.audio[i][j]), 1e-3F) << i << ' ' << j;
  }
  EXPECT_NE(spoken.audio[0], spoken.audio[2]);  // their noise differs
}

TEST_F(VitsTogetherTest, ASeedRepeatsInAnyCompany) {
  const auto model = LoadBatch();
  const std::vector<models::SynthesizeInput> one = {speech::Say("Hello there.")};
  std::vector<models::SynthesizeInput> many(5, speech::Say("Thank you very much."));
  many.push_back(one[0]);
  const auto alone = SpeakAllTogether(*model, one);
  const auto accompanied = SpeakAllTogether(*model, many);
  EXPECT_EQ(alone.audio[0], SpeakAllTogether(*model, one).audio[0]);
  EXPECT_LE(Furthest(alone.audio[0][0], accompanied.audio[5][0]), 1e-4F);
}

TEST_F(VitsTogetherTest, ACancelledRequestCostsTheBatchNothing) {
  const auto model = LoadBatch();
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

TEST_F(VitsTogetherTest, ALengthThatIsNoNumberFailsTheRequest) {
  const auto model = LoadBatch({.values = {{"dp.flows.0.m", NAN}}});
  const auto spoken = SpeakAllTogether(*model, {speech::Say("One."), speech::Say("Two.")});
  for (const absl::Status& status : spoken.statuses)
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
}

TEST_F(VitsTogetherTest, FewShapesAreWarmedUpInAllSizes) {
  context_.shapes = models::ShapePolicy::kFew;
  const auto model = Load({});
  EXPECT_EQ(model->WarmupBatches(), (std::vector<size_t>{1}));  // the CPU's batches are of one
  size_t longest = 0;
  for (const models::Input& input : model->WarmupInputs()) {
    EXPECT_TRUE(model->Validate(input).ok());
    longest = std::max(longest, std::get<models::SynthesizeInput>(input).text.size());
  }
  EXPECT_GT(longest, 140U);
}

}  // namespace
}  // namespace millrace::vits
