// The model as the server uses it, on small random weights, with the real espeak-ng.

#include "models/synthesis/kokoro_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "models/core/request.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/unit/models/synthesis/tiny_kokoro.h"
#include "tests/unit/models/text_english/tiny_lexicon.h"

namespace millrace::models {
namespace {

constexpr size_t kSamplesPerFrame = 32;

class Collector final : public OutputSink {
 public:
  void Emit(Output output) override {
    parts.push_back(std::get<SynthesizeOutput>(std::move(output)));
  }

  std::vector<SynthesizeOutput> parts;
};

class KokoroModelTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<Model>> TryLoad(const TinyKokoro& shape = {},
                                                 const std::string& voice = "",
                                                 const std::string& language = "en-US") {
    WriteTinyKokoro(folder_.path(), shape);
    return TryLoadAgain(voice, language);
  }
  absl::StatusOr<std::unique_ptr<Model>> TryLoadAgain(const std::string& voice = "",
                                                      const std::string& language = "en-US") {
    KokoroOptions options;
    options.weights_file = folder_.path() / "model.safetensors";
    options.config_file = folder_.path() / "kokoro.json";
    std::ofstream(folder_.path() / "lexicon", std::ios::binary)
        << testing::LexiconBytes({{"one", "gwˈʌn"}, {"two", "gtˈu"}}, language == "en-GB" ? 1 : 0);
    options.lexicon_file = folder_.path() / "lexicon";
    options.language = language;
    options.voice = voice;
    options.espeak_timeout = std::chrono::seconds(30);
    options.padded = padded_;
    options.few_shapes = few_shapes_;
    ModelInfo info;
    info.name = "tiny";
    return KokoroModel::Load(options, info);
  }
  std::unique_ptr<Model> Load(const TinyKokoro& shape = {}, const std::string& voice = "") {
    auto model = TryLoad(shape, voice);
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }

  const testing::TemporaryFolder folder_;
  bool padded_ = false;  // as on an accelerator
  bool few_shapes_ = false;
};

SynthesizeInput Say(const std::string& text) {
  SynthesizeInput input;
  input.text = text;
  return input;
}

// Runs a request to its end, as a worker does; returns its outcome.
absl::Status SpeakAll(const Model& model, const SynthesizeInput& input, Collector& sink) {
  FakeWorkerContext context;
  Request request(input, TimePoint::max(), sink);
  std::vector<Request*> requests = {&request};
  while (!request.outcome()) {
    const std::unique_ptr<Batch> batch = model.Prepare(requests);
    if (batch == nullptr) continue;
    batch->Forward(context);
    batch->Complete();
  }
  return *request.outcome();
}

std::vector<float> Samples(const Model& model, const SynthesizeInput& input) {
  Collector sink;
  const absl::Status status = SpeakAll(model, input, sink);
  EXPECT_TRUE(status.ok()) << status;
  std::vector<float> all;
  for (const SynthesizeOutput& part : sink.parts)
    all.insert(all.end(), part.samples.begin(), part.samples.end());
  return all;
}

TEST_F(KokoroModelTest, TellsWhatItIs) {
  const auto model = Load();
  EXPECT_EQ(model->info().platform, "kokoro");
  EXPECT_EQ(model->info().task, Task::kSynthesis);
  EXPECT_EQ(model->info().sample_rate, 24000);
  EXPECT_EQ(model->info().language, "en-US");
  EXPECT_EQ(model->info().languages, (std::vector<std::string>{"en-US", "ja"}));
  EXPECT_EQ(model->info().voices, (std::vector<std::string>{"anna", "ben"}));
}

TEST_F(KokoroModelTest, TheDefaultVoiceIsFirst) {
  const auto model = Load({.voices = {"anna", "ben", "clara"}}, "ben");
  EXPECT_EQ(model->info().voices, (std::vector<std::string>{"ben", "anna", "clara"}));
  SynthesizeInput named = Say("Hello.");
  named.voice = "ben";
  EXPECT_EQ(Samples(*model, Say("Hello.")), Samples(*model, named));
  const auto none = TryLoad({}, "dora");
  EXPECT_NE(none.status().message().find("has no voice 'dora'; it has: anna, ben"),
            std::string::npos)
      << none.status();
}

TEST_F(KokoroModelTest, SpeaksWholeFramesOfFiniteSamples) {
  const auto model = Load();
  for (const SynthesizeInput& input : {Say("Hello there."), Say("Why? Because!")}) {
    const std::vector<float> samples = Samples(*model, input);
    ASSERT_FALSE(samples.empty());
    EXPECT_EQ(samples.size() % kSamplesPerFrame, 0U);
    float loudest = 0;
    for (const float sample : samples) {
      ASSERT_TRUE(std::isfinite(sample));
      loudest = std::max(loudest, std::abs(sample));
    }
    EXPECT_GT(loudest, 1e-3F);
  }
}

TEST_F(KokoroModelTest, ASentenceIsAStep) {
  const auto model = Load();
  Collector sink;
  ASSERT_TRUE(SpeakAll(*model, Say("Good morning. How are you? Fine!"), sink).ok());
  ASSERT_EQ(sink.parts.size(), 3U);
  EXPECT_EQ(sink.parts[1].text, "How are you?");
  EXPECT_EQ(sink.parts[2].sentence_index, 2U);
  EXPECT_EQ(sink.parts[0].sample_rate, 24000);
}

TEST_F(KokoroModelTest, TheSeedAloneDecidesTheNoise) {
  const auto model = Load();
  SynthesizeInput input = Say("Hello. Hello.");
  const std::vector<float> first = Samples(*model, input);
  EXPECT_EQ(Samples(*model, input), first);
  input.seed = 1;
  const std::vector<float> other = Samples(*model, input);
  EXPECT_EQ(other.size(), first.size());
  EXPECT_NE(other, first);
  // Equal sentences of one request differ, too.
  EXPECT_FALSE(std::equal(first.begin(),
                          first.begin() + static_cast<std::ptrdiff_t>(first.size() / 2),
                          first.begin() + static_cast<std::ptrdiff_t>(first.size() / 2)));
}

TEST_F(KokoroModelTest, ARequestNamesItsLanguage) {
  const auto model = Load();
  SynthesizeInput kana = Say("みち。そら！");
  kana.language = "ja";
  kana.phoneme_times = true;
  ASSERT_TRUE(model->Validate(kana).ok());
  Collector sink;
  ASSERT_TRUE(SpeakAll(*model, kana, sink).ok());
  ASSERT_EQ(sink.parts.size(), 2U);
  std::string spoken;  // by the symbols of the tiny model
  for (const SpeechTime& phoneme : sink.parts[0].phonemes) spoken += phoneme.text;
  EXPECT_EQ(spoken, "mii.");
  SynthesizeInput english = Say("One.");
  const std::vector<float> samples = Samples(*model, english);
  english.language = "en-US";
  EXPECT_EQ(Samples(*model, english), samples);
  english.language = "ja";
  Collector silent;
  EXPECT_EQ(SpeakAll(*model, english, silent).message(),
            "text: the character 'O' at byte 0 is not kana; write it in hiragana or katakana");
}

TEST_F(KokoroModelTest, VoicesMix) {
  const auto model = Load();
  const auto speak = [&](const std::string& voice) {
    SynthesizeInput input = Say("One, two, three.");
    input.voice = voice;
    return Samples(*model, input);
  };
  const std::vector<float> anna = speak("anna");
  const std::vector<float> both = speak("anna+ben");
  EXPECT_NE(both, anna);
  EXPECT_NE(both, speak("ben"));
  EXPECT_EQ(both, speak("anna:0.5+ben:0.5"));
  EXPECT_NE(both, speak("anna:0.2+ben:0.8"));
  EXPECT_EQ(speak("anna:1"), anna);
}

TEST_F(KokoroModelTest, SpeedChangesTheLength) {
  const auto model = Load({.durations = 30});
  SynthesizeInput input = Say("The quick brown fox jumps.");
  const size_t normal = Samples(*model, input).size();
  input.speed = 2;
  const size_t fast = Samples(*model, input).size();
  input.speed = 0.5F;
  const size_t slow = Samples(*model, input).size();
  EXPECT_NEAR(static_cast<double>(fast), static_cast<double>(normal) / 2,
              static_cast<double>(normal) / 10);
  EXPECT_NEAR(static_cast<double>(slow), static_cast<double>(normal) * 2,
              static_cast<double>(normal) / 10);
}

TEST_F(KokoroModelTest, BadInputIsRefusedByFieldValueAndWhatIsAllowed) {
  const auto model = Load();
  const auto error = [&](const SynthesizeInput& input) {
    const absl::Status status = model->Validate(input);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  SynthesizeInput input = Say("Hello.");
  EXPECT_TRUE(model->Validate(input).ok());
  for (const float speed : {0.5F, 2.0F}) {
    input.speed = speed;
    EXPECT_TRUE(model->Validate(input).ok()) << speed;
  }
  for (const float speed :
       {0.49F, 2.01F, 0.0F, -1.0F, INFINITY, std::numeric_limits<float>::quiet_NaN()}) {
    input.speed = speed;
    EXPECT_EQ(error(input).rfind("speed: ", 0), 0U) << speed;
  }
  input.speed = 3;
  EXPECT_EQ(error(input), "speed: 3 is not allowed; it is 0.5..2");
  input = Say("Hello.");
  input.voice = "dora";
  EXPECT_EQ(error(input), "voice: there is no voice 'dora'; there are: anna, ben");
  input.voice = "anna:0.6+ben:0.6";
  EXPECT_NE(error(input).find("its weights sum to 1.2, expected 1"), std::string::npos);
  input = Say("Hello.");
  input.noise_scale = 0.5F;
  EXPECT_NE(error(input).find("noise_scale: 0.5 is not allowed"), std::string::npos);
  EXPECT_NE(error(Say("?!")).find("text: there is nothing to speak"), std::string::npos);
  EXPECT_EQ(model->Validate(TranslateInput{}).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(KokoroModelTest, AUnitWithTooManyPhonemesIsCut) {
  const auto model = Load({.positions = 20});
  Collector sink;
  ASSERT_TRUE(
      SpeakAll(*model, Say("Many small words make one rather long sentence here"), sink).ok());
  EXPECT_GE(sink.parts.size(), 3U);
  std::string all;
  for (const SynthesizeOutput& part : sink.parts) all += (all.empty() ? "" : " ") + part.text;
  EXPECT_EQ(all, "Many small words make one rather long sentence here");
}

TEST_F(KokoroModelTest, ATextThatCannotBeCutEndsWithAnError) {
  const auto model = Load({.positions = 3});
  Collector sink;
  const absl::Status status = SpeakAll(*model, Say("Hi"), sink);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("allowed are 1"), std::string::npos) << status;
}

TEST_F(KokoroModelTest, AUnitThatWouldLastTooLongIsCutBeforeItIsDecoded) {
  // Sigmoids of 1 each: every phoneme lasts 5000 frames of 32 samples, 6.7 seconds.
  const auto model =
      Load({.durations = 5000, .values = {{"predictor.duration_proj.linear_layer.bias", 50.0F}}});
  Collector sink;
  SynthesizeInput input = Say("one two");
  input.speed = 2;  // 3.3 seconds a phoneme
  EXPECT_TRUE(SpeakAll(*model, input, sink).ok());
  EXPECT_GE(sink.parts.size(), 1U);
  for (const SynthesizeOutput& part : sink.parts) EXPECT_LE(part.samples.size(), 60U * 24000);
  const auto longer =
      Load({.durations = 60000, .values = {{"predictor.duration_proj.linear_layer.bias", 50.0F}}});
  Collector silent;
  const absl::Status status = SpeakAll(*longer, Say("one"), silent);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("text, speed: one sentence would last"), std::string::npos)
      << status;
  EXPECT_TRUE(silent.parts.empty());
}

TEST_F(KokoroModelTest, ACancelledRequestIsNotSpoken) {
  const auto model = Load();
  FakeWorkerContext context;
  Collector sink;
  Request request(Say("Hello there."), TimePoint::max(), sink);
  std::vector<Request*> requests = {&request};
  const std::unique_ptr<Batch> batch = model->Prepare(requests);
  ASSERT_NE(batch, nullptr);
  sink.Cancel();
  batch->Forward(context);
  batch->Complete();
  EXPECT_TRUE(sink.parts.empty());
  EXPECT_FALSE(request.outcome());
}

// What requests in one batch end with; their audio.
struct Ended {
  std::vector<absl::Status> statuses;
  std::vector<std::vector<float>> audio;
};

Ended SpeakTogether(const Model& model, const std::vector<SynthesizeInput>& inputs) {
  FakeWorkerContext context;
  std::deque<Collector> sinks(inputs.size());
  std::deque<Request> requests;
  for (size_t i = 0; i < inputs.size(); ++i)
    requests.emplace_back(inputs[i], TimePoint::max(), sinks[i]);
  for (;;) {
    std::vector<Request*> unfinished;
    for (Request& request : requests) {
      if (!request.outcome()) unfinished.push_back(&request);
    }
    if (unfinished.empty()) break;
    const std::unique_ptr<Batch> batch = model.Prepare(unfinished);
    if (batch == nullptr) continue;
    batch->Forward(context);
    batch->Complete();
  }
  Ended ended;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ended.statuses.push_back(*requests[i].outcome());
    std::vector<float>& audio = ended.audio.emplace_back();
    for (const SynthesizeOutput& part : sinks[i].parts)
      audio.insert(audio.end(), part.samples.begin(), part.samples.end());
  }
  return ended;
}

TEST_F(KokoroModelTest, ABatchSpeaksEachRequestAsAlone) {
  padded_ = true;
  const auto model = Load({.durations = 12});
  std::vector<SynthesizeInput> inputs;
  for (const char* text : {"Hello there.", "One, two, three. Four!", "Hello there.", "Hi.",
                           "Good morning to all of you.", "Fine.", "Why? Because!", "One.", "Two.",
                           "Thank you very much."}) {
    inputs.push_back(Say(text));
    inputs.back().seed = inputs.size();
  }
  inputs[4].voice = "anna+ben";
  inputs[5].speed = 0.5F;
  const Ended ended = SpeakTogether(*model, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    ASSERT_TRUE(ended.statuses[i].ok()) << ended.statuses[i];
    const std::vector<float> alone = Samples(*model, inputs[i]);
    ASSERT_EQ(ended.audio[i].size(), alone.size()) << i;
    for (size_t j = 0; j < alone.size(); ++j) ASSERT_NEAR(ended.audio[i][j], alone[j], 1e-3) << i;
  }
  EXPECT_NE(ended.audio[0], ended.audio[2]);  // their noise differs
}

TEST_F(KokoroModelTest, ACancelledRequestCostsTheBatchNothing) {
  padded_ = true;
  const auto model = Load();
  FakeWorkerContext context;
  Collector cancelled, heard;
  Request first(Say("Hello there."), TimePoint::max(), cancelled);
  Request second(Say("Good morning."), TimePoint::max(), heard);
  std::vector<Request*> requests = {&first, &second};
  const std::unique_ptr<Batch> batch = model->Prepare(requests);
  ASSERT_NE(batch, nullptr);
  cancelled.Cancel();
  batch->Forward(context);
  batch->Complete();
  EXPECT_TRUE(cancelled.parts.empty());
  EXPECT_FALSE(first.outcome());
  ASSERT_EQ(heard.parts.size(), 1U);
  EXPECT_TRUE(second.outcome() && second.outcome()->ok());
}

TEST_F(KokoroModelTest, AUnitThatLastsTooLongFailsAloneInItsBatch) {
  padded_ = true;
  // Every phoneme lasts 4000 frames of 32 samples, 5 seconds; the word cannot be cut.
  const auto model =
      Load({.durations = 4000, .values = {{"predictor.duration_proj.linear_layer.bias", 50.0F}}});
  std::vector<SynthesizeInput> inputs = {Say("one"), Say("one")};
  inputs[0].speed = 0.5F;
  inputs[1].speed = 2;
  const Ended ended = SpeakTogether(*model, inputs);
  EXPECT_EQ(ended.statuses[0].code(), absl::StatusCode::kInvalidArgument) << ended.statuses[0];
  EXPECT_TRUE(ended.statuses[1].ok()) << ended.statuses[1];
  EXPECT_FALSE(ended.audio[1].empty());
}

TEST_F(KokoroModelTest, TheWarmUpSpeaksManyLengthsWhereShapesAreFew) {
  const auto lengths = [&] {
    const auto model = TryLoad();
    EXPECT_TRUE(model.ok()) << model.status();
    EXPECT_EQ((*model)->WarmupBatches(), std::vector<size_t>{1});
    std::set<size_t> samples;
    for (const Input& input : (*model)->WarmupInputs()) {
      EXPECT_TRUE((*model)->Validate(input).ok());
      samples.insert(Samples(**model, std::get<SynthesizeInput>(input)).size());
    }
    return samples.size();
  };
  padded_ = true;
  EXPECT_EQ(lengths(), 1U);
  few_shapes_ = true;
  EXPECT_GE(lengths(), 10U);
  EXPECT_LE(lengths(), 50U);
}

TEST_F(KokoroModelTest, WhatIsStreamedBeginsWithAClause) {
  const auto model = Load();
  SynthesizeInput input = Say("I see it now, two of them are red. One more, I say to you, is it.");
  const auto texts = [&] {
    Collector sink;
    EXPECT_TRUE(SpeakAll(*model, input, sink).ok());
    std::vector<std::string> all;
    for (const SynthesizeOutput& part : sink.parts) all.push_back(part.text);
    return all;
  };
  using Texts = std::vector<std::string>;
  const std::string second = "One more, I say to you, is it.";
  EXPECT_EQ(texts(), (Texts{"I see it now, two of them are red.", second}));
  input.streamed = true;
  EXPECT_EQ(texts(), (Texts{"I see it now,", "two of them are red.", second}));
  input.first_sentence = 1;  // there is something to listen to already
  EXPECT_EQ(texts(), (Texts{"I see it now, two of them are red.", second}));
}

TEST_F(KokoroModelTest, NumbersThatAreNoneEndOnlyTheRequest) {
  const auto model = Load({.values = {{"predictor.duration_proj.linear_layer.bias", NAN}}});
  Collector sink;
  const absl::Status status = SpeakAll(*model, Say("Hello."), sink);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_NE(status.message().find("a length that is no number"), std::string::npos) << status;
}

TEST_F(KokoroModelTest, DamagedWeightsAreAnErrorThatNamesTheFile) {
  WriteTinyKokoro(folder_.path(), {});
  const std::filesystem::path file = folder_.path() / "model.safetensors";
  const auto size = std::filesystem::file_size(file);
  for (const uintmax_t keep : {uintmax_t{0}, uintmax_t{7}, uintmax_t{100}, size / 2, size - 4}) {
    WriteTinyKokoro(folder_.path(), {});
    std::filesystem::resize_file(file, keep);
    const auto model = TryLoadAgain();
    ASSERT_FALSE(model.ok()) << keep;
    EXPECT_NE(model.status().message().find("model.safetensors"), std::string::npos)
        << model.status();
  }
}

TEST_F(KokoroModelTest, EveryMissingTensorIsNamed) {
  WriteTinyKokoro(folder_.path(), {});
  const std::filesystem::path file = folder_.path() / "model.safetensors";
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  for (const char* name :
       {"bert.embeddings.position_embeddings.weight", "bert_encoder.bias",
        "predictor.text_encoder.lstms.2.weight_hh_l0_reverse", "predictor.lstm.bias_ih_l0",
        "text_encoder.cnn.1.1.gamma", "predictor.F0.1.norm2.fc.weight", "decoder.N_conv.weight",
        "decoder.decode.1.conv2.weight", "decoder.generator.noise_res.1.alpha1.2",
        "decoder.generator.ups.0.bias", "decoder.generator.m_source.l_linear.weight",
        "decoder.generator.conv_post.weight", "voices.ben"}) {
    std::string damaged = bytes;
    const size_t at = damaged.find("\"" + std::string(name) + "\"");
    ASSERT_NE(at, std::string::npos) << name;
    damaged[at + 1] = 'x';
    std::ofstream(file, std::ios::binary) << damaged;
    const auto model = TryLoadAgain();
    ASSERT_FALSE(model.ok()) << name;
    EXPECT_NE(model.status().message().find(name), std::string::npos) << model.status();
  }
}

TEST_F(KokoroModelTest, WeightsThatDoNotFitEachOtherAreRefusedByName) {
  const auto expect = [&](const TinyKokoro& shape, const std::string& message) {
    const auto model = TryLoad(shape);
    EXPECT_EQ(model.status().code(), absl::StatusCode::kDataLoss) << message;
    EXPECT_NE(model.status().message().find(message), std::string::npos) << model.status();
  };
  expect({.symbols = 20}, "vocab has the number 49, the weights know 20 symbols");
  expect({.metadata = {{"fft", "8 3"}}}, "its metadata fft is '8 3'");
  expect({.metadata = {{"albert_heads", "5"}}}, "has 12 outputs, no multiple of 5 heads");
  expect({.metadata = {{"upsample_strides", "64 64 64"}}}, "its metadata upsample_strides is");
  expect({.metadata = {{"block_dilations", "1 3;x"}}}, "its metadata block_dilations is");
  expect({.shapes = {{"voices.ben", {49, 12}}}}, "voices.ben has 49 rows, voices.anna has 50");
  expect({.shapes = {{"voices.ben", {50, 10}}}}, "voices.ben is FP32 [50, 10], expected");
  expect({.shapes = {{"decoder.generator.noise_convs.0.weight", {34, 10, 3}}}},
         "decoder.generator.noise_convs.0.weight has 3 taps, expected 4");
  expect({.shapes = {{"decoder.generator.resblocks.2.convs1.0.weight", {5, 5, 4}}}},
         "decoder.generator.resblocks.2.convs1.0.weight has 4 taps; only an odd");
  expect({.positions = 2}, "has no room for a phoneme");
}

TEST_F(KokoroModelTest, ALanguageWithoutAFrontEndIsRefused) {
  const auto model = TryLoad({}, "", "fr");
  EXPECT_NE(model.status().message().find("language: there is no way from 'fr'"), std::string::npos)
      << model.status();
}

}  // namespace
}  // namespace millrace::models
