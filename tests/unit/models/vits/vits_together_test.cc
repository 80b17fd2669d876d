// Requests that a Piper voice speaks in one batch, as on an accelerator.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "tests/fakes/golden_file.h"
#include "tests/unit/models/speech/speak_together.h"
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
  const speech::SpokenTogether spoken = speech::SpeakTogether(*batch, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    ASSERT_TRUE(spoken.statuses[i].ok()) << spoken.statuses[i];
    inputs[i].streamed = false;
    speech::Collector sink;
    ASSERT_TRUE(speech::SpeakAll(*alone, inputs[i], sink).ok());
    const std::vector<std::vector<float>> expected = speech::SentencesOf(sink);
    ASSERT_EQ(spoken.audio[i].size(), expected.size()) << i;
    for (size_t j = 0; j < expected.size(); ++j)
      EXPECT_LE(testing::GreatestDifference(expected[j], spoken.audio[i][j]), 1e-3F)
          << i << ' ' << j;
  }
  EXPECT_NE(spoken.audio[0], spoken.audio[2]);  // their noise differs
}

TEST_F(VitsTogetherTest, ASeedRepeatsInAnyCompany) {
  const auto model = LoadBatch();
  const std::vector<models::SynthesizeInput> one = {speech::Say("Hello there.")};
  std::vector<models::SynthesizeInput> many(5, speech::Say("Thank you very much."));
  many.push_back(one[0]);
  const auto alone = speech::SpeakTogether(*model, one);
  const auto accompanied = speech::SpeakTogether(*model, many);
  EXPECT_EQ(alone.audio[0], speech::SpeakTogether(*model, one).audio[0]);
  EXPECT_LE(testing::GreatestDifference(alone.audio[0][0], accompanied.audio[5][0]), 1e-4F);
}

TEST_F(VitsTogetherTest, ACancelledRequestCostsTheBatchNothing) {
  speech::ExpectACancelledRequestCostsTheBatchNothing(*LoadBatch());
}

TEST_F(VitsTogetherTest, ALengthThatIsNoNumberFailsTheRequest) {
  const auto model = LoadBatch({.values = {{"dp.flows.0.m", NAN}}});
  const auto spoken = speech::SpeakTogether(*model, {speech::Say("One."), speech::Say("Two.")});
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
