// The model as the server uses it, on a small random voice, with the real espeak-ng or a false one.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "models/core/request.h"
#include "tests/fakes/at_once.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/run_model.h"
#include "tests/unit/models/speech/speak.h"
#include "tests/unit/models/vits/vits_fixture.h"

namespace millrace::vits {
namespace {

class VitsModelTest : public VitsFixture {
 protected:
  std::unique_ptr<models::Model> Load(const TinyVits& shape = {}) const {
    return VitsFixture::Load(shape);
  }
};

TEST_F(VitsModelTest, TellsWhatItIs) {
  const auto model = Load();
  const models::ModelInfo& info = model->info();
  EXPECT_EQ(info.name, "tiny-voice");
  EXPECT_EQ(info.platform, "vits");
  EXPECT_EQ(info.task(), models::Task::kSynthesis);
  EXPECT_EQ(info.speech().sample_rate, 16000);
  EXPECT_EQ(info.speech().voices, std::vector<std::string>{"tiny"});
  for (const models::Input& input : model->WarmupInputs()) EXPECT_TRUE(model->Validate(input).ok());
}

TEST_F(VitsModelTest, SpeaksASentenceAStep) {
  const auto model = Load();
  speech::Collector sink;
  models::Request request(speech::Say("One two. Three!"), TimePoint::max(), sink);
  for (size_t step = 0; step < 2; ++step) {
    EXPECT_FALSE(request.outcome());
    EXPECT_EQ(sink.parts.size(), step);
    testing::RunStep(*model, {&request});
    ASSERT_EQ(sink.parts.size(), step + 1);
    EXPECT_EQ(sink.parts[step].sentence_index, step);
    EXPECT_EQ(sink.parts[step].sample_rate, 16000);
    EXPECT_FALSE(sink.parts[step].samples.empty());
  }
  ASSERT_TRUE(request.outcome());
  EXPECT_TRUE(request.outcome()->ok());
  EXPECT_EQ(sink.parts[0].text, "One two.");
  EXPECT_EQ(sink.parts[1].text, "Three!");
}

TEST_F(VitsModelTest, AListenerGetsTheSameAudioInChunks) {
  const auto model = Load();
  models::SynthesizeInput input = speech::Say(
      "The first words of a long sentence are heard while the rest of it is still being made. "
      "Then comes another.");
  input.speed = 0.5F;
  speech::Collector whole;
  ASSERT_TRUE(speech::SpeakAll(*model, input, whole).ok());
  ASSERT_EQ(whole.parts.size(), 2U);
  input.streamed = true;
  speech::Collector chunks;
  ASSERT_TRUE(speech::SpeakAll(*model, input, chunks).ok());
  ASSERT_GT(chunks.parts.size(), 3U);
  EXPECT_LT(chunks.parts[0].samples.size(), whole.parts[0].samples.size() / 3);

  size_t sentence = 0;
  bool first = true;
  std::vector<float> joined;
  for (const models::SynthesizeOutput& part : chunks.parts) {
    EXPECT_EQ(part.sentence_index, sentence);
    EXPECT_EQ(part.text, first ? whole.parts[sentence].text : "");
    joined.insert(joined.end(), part.samples.begin(), part.samples.end());
    first = part.sentence_finished;
    if (!part.sentence_finished) continue;
    EXPECT_EQ(joined, whole.parts[sentence].samples);
    joined.clear();
    ++sentence;
  }
  EXPECT_EQ(sentence, 2U);
}

TEST_F(VitsModelTest, SamplesAreBounded) {
  for (float sample : speech::Samples(*Load(), speech::Say("Hello there, world."))) {
    ASSERT_TRUE(std::isfinite(sample));
    ASSERT_LE(std::abs(sample), 1.0F);
  }
}

TEST_F(VitsModelTest, ASeedRepeats) {
  const auto model = Load();
  models::SynthesizeInput input = speech::Say("Hello there. How are you?");
  const std::vector<float> zero = speech::Samples(*model, input);
  EXPECT_EQ(speech::Samples(*model, input), zero);
  input.seed = 1;
  EXPECT_NE(speech::Samples(*model, input), zero);
}

TEST_F(VitsModelTest, WithoutNoiseTheSeedDoesNotMatter) {
  const auto model = Load();
  models::SynthesizeInput input = speech::Say("Hello.");
  input.noise_scale = 0;
  input.noise_w = 0;
  const std::vector<float> zero = speech::Samples(*model, input);
  input.seed = 9;
  EXPECT_EQ(speech::Samples(*model, input), zero);
}

TEST_F(VitsModelTest, EqualSentencesOfATextSoundDifferent) {
  speech::Collector sink;
  ASSERT_TRUE(speech::SpeakAll(*Load(), speech::Say("No no no. No no no."), sink).ok());
  ASSERT_EQ(sink.parts.size(), 2U);
  EXPECT_NE(sink.parts[0].samples, sink.parts[1].samples);
}

TEST_F(VitsModelTest, SlowSpeechIsLonger) {
  const auto model = Load();
  models::SynthesizeInput input = speech::Say("Hello there, world.");
  const size_t normal = speech::Samples(*model, input).size();
  input.speed = 0.25F;
  EXPECT_GT(speech::Samples(*model, input).size(), 2 * normal);
}

TEST_F(VitsModelTest, SpeedIsTrue) {
  const auto model = Load();
  models::SynthesizeInput input = speech::Say(
      "Hello there, world. The first words of a sentence that is long enough to count.");
  const auto normal = static_cast<double>(speech::Samples(*model, input).size());
  for (const float speed : {0.25F, 0.5F, 1.3F, 2.0F, 4.0F}) {
    input.speed = speed;
    EXPECT_NEAR(static_cast<double>(speech::Samples(*model, input).size()) * speed / normal, 1,
                speed > 2 ? 0.05 : 0.03)  // a frame at either end weighs more
        << speed;
  }
}

TEST_F(VitsModelTest, EnglishNumbersAreReadAsWords) {
  const auto model = Load();
  EXPECT_EQ(
      speech::Samples(*model, speech::Say("World War II cost $5.50.")),
      speech::Samples(*model, speech::Say("World War two cost five dollars and fifty cents.")));
}

TEST_F(VitsModelTest, AVoiceHasItsOwnGain) {
  const std::vector<float> quiet = speech::Samples(*Load(), speech::Say("Hello."));
  config_.gain_db = 6.0206F;
  const std::vector<float> loud = speech::Samples(*Load(), speech::Say("Hello."));
  ASSERT_EQ(loud.size(), quiet.size());
  for (size_t i = 0; i < loud.size(); ++i) {
    ASSERT_LT(std::abs(loud[i]), 1);
    if (std::abs(quiet[i]) < 0.4F) {
      ASSERT_NEAR(loud[i], 2 * quiet[i], 1e-4F);
    }
  }
}

TEST_F(VitsModelTest, RequestsAtOnceSoundAsAlone) {
  const auto model = Load();
  const std::vector<models::SynthesizeInput> inputs = {speech::Say("One two three."),
                                                       speech::Say("Hello, world! Good bye.")};
  std::vector<std::vector<float>> alone;
  for (const models::SynthesizeInput& input : inputs)
    alone.push_back(speech::Samples(*model, input));
  testing::AtOnce(inputs.size(), [&](size_t i) {
    for (int round = 0; round < 5; ++round) EXPECT_EQ(speech::Samples(*model, inputs[i]), alone[i]);
  });
}

TEST_F(VitsModelTest, ABatchHoldsSeveralRequests) {
  const auto model = Load();
  const std::vector<float> first = speech::Samples(*model, speech::Say("One."));
  const std::vector<float> second = speech::Samples(*model, speech::Say("Two two."));
  speech::Collector sink_1;
  speech::Collector sink_2;
  models::Request request_1(speech::Say("One."), TimePoint::max(), sink_1);
  models::Request request_2(speech::Say("Two two."), TimePoint::max(), sink_2);
  testing::RunStep(*model, {&request_1, &request_2});
  EXPECT_EQ(sink_1.parts.at(0).samples, first);
  EXPECT_EQ(sink_2.parts.at(0).samples, second);
}

TEST_F(VitsModelTest, AStepThatFailedCanBeRunAgain) {
  const auto model = Load();
  const models::SynthesizeInput input = speech::Say("Hello there. Bye.");
  const std::vector<float> expected = speech::Samples(*model, input);
  speech::Collector sink;
  models::FakeWorkerContext context;
  models::Request request(input, TimePoint::max(), sink);
  std::vector<models::Request*> requests = {&request};
  model->Prepare(requests)->Forward(context);  // its batch is dropped, as after an exception
  std::vector<float> all;
  EXPECT_TRUE(testing::RunToEnd(*model, request).ok());
  for (const models::SynthesizeOutput& part : sink.parts)
    all.insert(all.end(), part.samples.begin(), part.samples.end());
  EXPECT_EQ(all, expected);
}

TEST_F(VitsModelTest, ACancelledRequestEmitsNothing) {
  const auto model = Load();
  speech::Collector sink;
  models::FakeWorkerContext context;
  models::Request request(speech::Say("Hello there."), TimePoint::max(), sink);
  std::vector<models::Request*> requests = {&request};
  const auto batch = model->Prepare(requests);
  ASSERT_NE(batch, nullptr);
  sink.Cancel();
  batch->Forward(context);
  batch->Complete();
  EXPECT_TRUE(sink.parts.empty());
  EXPECT_FALSE(request.outcome());
}

TEST_F(VitsModelTest, ALongTextWithoutPunctuationIsSpokenInPieces) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "one ";
  speech::Collector sink;
  ASSERT_TRUE(speech::SpeakAll(*Load(), speech::Say(text), sink).ok());
  EXPECT_GE(sink.parts.size(), 5U);
}

TEST_F(VitsModelTest, SentencesWithNothingToSpeakAreSkipped) {
  speech::Collector sink;
  ASSERT_TRUE(speech::SpeakAll(*Load(), speech::Say("One.\n...\nTwo.\n?!"), sink).ok());
  ASSERT_EQ(sink.parts.size(), 2U);
  EXPECT_EQ(sink.parts[1].sentence_index, 1U);
  EXPECT_EQ(sink.parts[1].text, "Two.");
}

TEST_F(VitsModelTest, AStepSkipsOnlyAFewSentencesWithNothingToSpeak) {
  const auto model = Load();
  std::string text;
  for (int i = 0; i < 40; ++i) text += ".\n";
  speech::Collector sink;
  models::FakeWorkerContext context;
  models::Request request(speech::Say(text + "One."), TimePoint::max(), sink);
  std::vector<models::Request*> requests = {&request};
  int without = 0;
  std::unique_ptr<models::Batch> batch;
  while ((batch = model->Prepare(requests)) == nullptr) {
    ASSERT_FALSE(request.outcome());
    ++without;
  }
  EXPECT_EQ(without, 5);
  batch->Forward(context);
  batch->Complete();
  EXPECT_EQ(sink.parts.size(), 1U);
  ASSERT_TRUE(request.outcome());
  EXPECT_TRUE(request.outcome()->ok());
}

TEST_F(VitsModelTest, ARequestThatIsToStopIsNotPrepared) {
  const auto model = Load();
  speech::Collector sink;
  models::Request request(speech::Say("One."), TimePoint::max(), sink);
  std::vector<models::Request*> requests = {&request};
  sink.Cancel();
  EXPECT_EQ(model->Prepare(requests), nullptr);
  EXPECT_FALSE(request.outcome());
}

TEST_F(VitsModelTest, ASentenceOfFarTooManyPhonemesIsSpokenInPieces) {
  const auto model = Load();
  std::string spelled = "a";
  std::string digits = "7";
  for (int i = 0; i < 130; ++i) spelled += "\u00AA\u00BA";
  for (int i = 0; i < 194; ++i) digits += " 7";
  for (const std::string& text : {spelled, digits}) {
    speech::Collector sink;
    const absl::Status status = speech::SpeakAll(*model, speech::Say(text), sink);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_GE(sink.parts.size(), 2U);
    std::string spoken;
    for (const models::SynthesizeOutput& part : sink.parts) {
      EXPECT_EQ(part.sentence_index, static_cast<size_t>(&part - sink.parts.data()));
      EXPECT_NE(static_cast<unsigned char>(part.text.front()) & 0xC0, 0x80);
      spoken += (spoken.empty() || text == spelled ? "" : " ") + part.text;
    }
    EXPECT_EQ(spoken, text);
  }
}

// Weights that make every phoneme last as long as one may.
std::map<std::string, float> Drawling() { return {{"dp.flows.0.m", -60.0F}}; }

TEST_F(VitsModelTest, ASentenceThatWouldLastTooLongIsSpokenInPieces) {
  const auto model = Load({.generator = 8, .strides = {8, 10}, .values = Drawling()});
  speech::Collector sink;
  const absl::Status status =
      speech::SpeakAll(*model, speech::Say("One two three four five six seven."), sink);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_GE(sink.parts.size(), 2U);
}

TEST_F(VitsModelTest, ASyllableThatWouldLastTooLongIsRefused) {
  const auto model = Load({.generator = 8, .strides = {64, 64}, .values = Drawling()});
  speech::Collector sink;
  const absl::Status status = speech::SpeakAll(*model, speech::Say("One two three."), sink);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("allowed are 300"), std::string::npos) << status;
}

TEST_F(VitsModelTest, ALengthThatIsNoNumberFailsItsRequest) {
  const auto model = Load({.values = {{"dp.flows.0.m", std::numeric_limits<float>::quiet_NaN()}}});
  speech::Collector sink;
  const absl::Status status = speech::SpeakAll(*model, speech::Say("Hello."), sink);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(sink.parts.empty());
}

TEST_F(VitsModelTest, RefusesBadInputByName) {
  const auto model = Load({.speakers = 2});
  EXPECT_EQ(model->info().speech().voices,
            (std::vector<std::string>{"tiny:speaker0", "tiny:speaker1"}));
  const auto message = [&](auto change) {
    models::SynthesizeInput input = speech::Say("Hello.");
    change(input);
    const absl::Status status = model->Validate(input);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(model->Validate(speech::Say("Hello.")).ok());
  for (const char* text : {"", "   ", "?!", "\U0001F600\U0001F44D"}) {
    EXPECT_TRUE(message([&](auto& i) { i.text = text; }).starts_with("text: ")) << text;
  }
  const std::string voice = message([](auto& i) { i.voice = "nobody"; });
  EXPECT_TRUE(voice.starts_with("voice: ")) << voice;
  EXPECT_NE(voice.find("tiny:speaker0, tiny:speaker1"), std::string::npos) << voice;
  for (float speed : {0.0F, -1.0F, 0.2F, 4.1F, nan, std::numeric_limits<float>::infinity()}) {
    const std::string speed_message = message([&](auto& i) { i.speed = speed; });
    EXPECT_TRUE(speed_message.starts_with("speed: ")) << speed_message;
    EXPECT_NE(speed_message.find("0.25..4"), std::string::npos) << speed_message;
  }
  for (float noise : {2.5F, nan, std::numeric_limits<float>::infinity()}) {
    EXPECT_TRUE(message([&](auto& i) { i.noise_scale = noise; }).starts_with("noise_scale: "));
    EXPECT_TRUE(message([&](auto& i) { i.noise_w = noise; }).starts_with("noise_w: "));
  }
  EXPECT_EQ(model->Validate(models::TranslateInput{}).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(VitsModelTest, SpeakersSoundDifferent) {
  const auto model = Load({.speakers = 2});
  models::SynthesizeInput input = speech::Say("Hello.");
  const std::vector<float> first = speech::Samples(*model, input);
  EXPECT_EQ(model->info().speech().voices,
            (std::vector<std::string>{"tiny:speaker0", "tiny:speaker1"}));
  for (const char* voice : {"tiny:speaker0", "speaker0"}) {
    input.voice = voice;
    EXPECT_EQ(speech::Samples(*model, input), first);
  }
  input.voice = "tiny:speaker1";
  EXPECT_NE(speech::Samples(*model, input), first);
}

TEST_F(VitsModelTest, AFailingEspeakFailsItsRequestAlone) {
  context_.espeak.program = MILLRACE_FAKE_ESPEAK;
  const auto model = Load();
  speech::Collector bad;
  EXPECT_EQ(speech::SpeakAll(*model, speech::Say("die now"), bad).code(),
            absl::StatusCode::kUnavailable);
  speech::Collector good;
  EXPECT_TRUE(speech::SpeakAll(*model, speech::Say("hello"), good).ok());
}

}  // namespace
}  // namespace millrace::vits
