// The model as the server uses it, on small random weights, with the real espeak-ng.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/models/kokoro/kokoro_fixture.h"

namespace millrace::kokoro {
namespace {

using KokoroModelTest = KokoroFixture;

TEST_F(KokoroModelTest, TellsWhatItIs) {
  const auto model = Load();
  EXPECT_EQ(model->info().platform, "kokoro");
  EXPECT_EQ(model->info().task(), models::Task::kSynthesis);
  EXPECT_EQ(model->info().speech().sample_rate, 24000);
  EXPECT_EQ(model->info().speech().language, "en-US");
  EXPECT_EQ(model->info().speech().languages,
            (std::vector<std::string>{"en-US", "ja", "es", "fr-FR", "hi", "it", "pt-BR"}));
  EXPECT_EQ(model->info().speech().pronunciation_languages,
            (std::vector<std::string>{"en-US", "es", "fr-FR", "hi", "it", "pt-BR"}));
  EXPECT_EQ(model->info().speech().voices, (std::vector<std::string>{"anna", "ben"}));
}

TEST_F(KokoroModelTest, AVoiceThatEspeakLacksCostsItsLanguageAlone) {
  const std::filesystem::path program = folder_.path() / "espeak-without-french";
  std::ofstream(program) << "#!/bin/sh\n"
                            "case \"$*\" in *fr-fr*) echo 'no dictionary' >&2; exit 1;; esac\n"
                            "exec espeak-ng \"$@\"\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  context_.espeak.program = program.string();
  const auto model = Load();
  EXPECT_EQ(model->info().speech().languages,
            (std::vector<std::string>{"en-US", "ja", "es", "hi", "it", "pt-BR"}));
  EXPECT_EQ(model->info().speech().pronunciation_languages,
            (std::vector<std::string>{"en-US", "es", "hi", "it", "pt-BR"}));
  models::SynthesizeInput input = speech::Say("Uno.");
  input.language = "es";
  EXPECT_FALSE(speech::Samples(*model, input).empty());
  // A text in the language is not read as if it were English, wherever the language comes from.
  input.language = "fr-FR";
  speech::Collector sink;
  const absl::Status status = speech::SpeakAll(*model, input, sink);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_NE(status.message().find("language: 'fr-FR' cannot be spoken here"), std::string::npos)
      << status;
  EXPECT_NE(status.message().find("cannot speak with the voice 'fr-fr'"), std::string::npos)
      << status;
}

TEST_F(KokoroModelTest, AModelWhoseOwnLanguageEspeakLacksIsNotLoaded) {
  context_.espeak.program = "no-such-espeak";
  EXPECT_EQ(TryLoad().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(KokoroModelTest, TheDefaultVoiceIsFirst) {
  const auto model = Load({.voices = {"anna", "ben", "clara"}}, "ben");
  EXPECT_EQ(model->info().speech().voices, (std::vector<std::string>{"ben", "anna", "clara"}));
  models::SynthesizeInput named = speech::Say("Hello.");
  named.voice = "ben";
  EXPECT_EQ(speech::Samples(*model, speech::Say("Hello.")), speech::Samples(*model, named));
  const auto none = TryLoad({}, "dora");
  EXPECT_NE(none.status().message().find("has no voice 'dora'; it has: anna, ben"),
            std::string::npos)
      << none.status();
}

TEST_F(KokoroModelTest, SpeaksFiniteSamples) {
  const auto model = Load();
  for (const models::SynthesizeInput& input :
       {speech::Say("Hello there."), speech::Say("Why? Because!")}) {
    const std::vector<float> samples = speech::Samples(*model, input);
    ASSERT_FALSE(samples.empty());
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
  speech::Collector sink;
  ASSERT_TRUE(speech::SpeakAll(*model, speech::Say("Good morning. How are you? Fine!"), sink).ok());
  ASSERT_EQ(sink.parts.size(), 3U);
  EXPECT_EQ(sink.parts[1].text, "How are you?");
  EXPECT_EQ(sink.parts[2].sentence_index, 2U);
  EXPECT_EQ(sink.parts[0].sample_rate, 24000);
}

TEST_F(KokoroModelTest, TheSeedAloneDecidesTheNoise) {
  const auto model = Load();
  models::SynthesizeInput input = speech::Say("Hello. Hello.");
  const std::vector<float> first = speech::Samples(*model, input);
  EXPECT_EQ(speech::Samples(*model, input), first);
  input.seed = 1;
  const std::vector<float> other = speech::Samples(*model, input);
  EXPECT_EQ(other.size(), first.size());
  EXPECT_NE(other, first);
  // Equal sentences of one request differ, too.
  EXPECT_FALSE(std::equal(first.begin(),
                          first.begin() + static_cast<std::ptrdiff_t>(first.size() / 2),
                          first.begin() + static_cast<std::ptrdiff_t>(first.size() / 2)));
}

TEST_F(KokoroModelTest, ARequestNamesItsLanguage) {
  const auto model = Load();
  models::SynthesizeInput kana = speech::Say("みち。そら！");
  kana.language = "ja";
  kana.phoneme_times = true;
  ASSERT_TRUE(model->Validate(kana).ok());
  speech::Collector sink;
  ASSERT_TRUE(speech::SpeakAll(*model, kana, sink).ok());
  ASSERT_EQ(sink.parts.size(), 2U);
  std::string spoken;  // by the symbols of the tiny model
  for (const models::SpokenSpan& phoneme : sink.parts[0].phonemes) spoken += phoneme.text;
  EXPECT_EQ(spoken, "mii.");
  models::SynthesizeInput english = speech::Say("One.");
  const std::vector<float> samples = speech::Samples(*model, english);
  english.language = "en-US";
  EXPECT_EQ(speech::Samples(*model, english), samples);
  models::SynthesizeInput russian = speech::Say("Да.");
  russian.language = "ja";
  speech::Collector silent;
  const absl::Status refused = speech::SpeakAll(*model, russian, silent);
  EXPECT_THAT(std::string(refused.message()),
              ::testing::StartsWith("text: the character 'Д' at byte 0 is "));
}

TEST_F(KokoroModelTest, SpeaksChineseWithALexiconOfIt) {
  config_.chinese_lexicon_file = "chinese.lexicon";
  std::ofstream(folder_.path() / "chinese.lexicon")
      << "[total]\n9\n[words]\n一\t4\tyi1\n米\t5\tmi3\n"
      << "[syllables]\nmi3\tmi\nyi1\ti\n";
  const auto model = Load();
  EXPECT_EQ(model->info().speech().languages,
            (std::vector<std::string>{"en-US", "ja", "es", "fr-FR", "hi", "it", "pt-BR", "zh"}));
  models::SynthesizeInput input = speech::Say("米1。");
  input.language = "zh";
  input.phoneme_times = true;
  ASSERT_TRUE(model->Validate(input).ok());
  speech::Collector sink;
  ASSERT_TRUE(speech::SpeakAll(*model, input, sink).ok());
  std::string spoken;
  for (const models::SpokenSpan& phoneme : sink.parts.at(0).phonemes) spoken += phoneme.text;
  EXPECT_EQ(spoken, "mi i.");
  input.text = "米Д。";
  EXPECT_EQ(speech::SpeakAll(*model, input, sink).message(),
            "text: the character 'Д' at byte 3 is Cyrillic text, which is not read in Chinese");
}

TEST_F(KokoroModelTest, ALanguageThatEspeakReadsHasWordsAndPronunciations) {
  const auto model = Load();
  models::SynthesizeInput input = speech::Say("¿Mi [loro](/man/)? ¡Sí!");
  input.language = "es";
  input.word_times = true;
  ASSERT_TRUE(model->Validate(input).ok());
  speech::Collector sink;
  ASSERT_TRUE(speech::SpeakAll(*model, input, sink).ok());
  ASSERT_EQ(sink.parts.size(), 2U);
  std::string words;
  for (const models::SynthesizeOutput& part : sink.parts) {
    for (const models::SpokenSpan& word : part.words) words += word.text + "|";
  }
  EXPECT_EQ(words, "Mi|loro|Sí|");
}

TEST_F(KokoroModelTest, ALanguageOfEspeakMayBeTheDefault) {
  const auto model = TryLoad({}, "", "it");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->info().speech().language, "it");
  EXPECT_EQ((*model)->info().speech().languages,
            (std::vector<std::string>{"it", "en-US", "ja", "es", "fr-FR", "hi", "pt-BR"}));
  models::SynthesizeInput named = speech::Say("Uno, due, tre.");
  const std::vector<float> samples = speech::Samples(**model, named);
  named.language = "it";
  EXPECT_EQ(speech::Samples(**model, named), samples);
  named.language = "en-US";
  EXPECT_NE(speech::Samples(**model, named), samples);
}

TEST_F(KokoroModelTest, ALanguageThatItDoesNotSpeakIsRefusedWithThoseThatItDoes) {
  const auto model = Load();
  models::SynthesizeInput input = speech::Say("你好。");
  input.language = "zh";
  EXPECT_EQ(model->Validate(input).message(),
            "language: model 'tiny' does not speak 'zh'; it speaks: en-US, ja, es, fr-FR, hi, it, "
            "pt-BR");
}

TEST_F(KokoroModelTest, ASentenceOfHindiIsNotCutForItsBytes) {
  const auto model =
      Load({.positions = 302, .shapes = {{"voices.anna", {300, 12}}, {"voices.ben", {300, 12}}}});
  // 67 characters, 177 bytes; twice that is more than a sentence of Latin letters may have.
  const std::string half = "भारत के उत्तर में हिमालय है और दक्षिण में हिन्द महासागर का नीला पानी";
  models::SynthesizeInput input = speech::Say(half + " " + half + "।");
  input.language = "hi";
  speech::Collector sink;
  ASSERT_TRUE(speech::SpeakAll(*model, input, sink).ok());
  EXPECT_EQ(sink.parts.size(), 1U);
}

TEST_F(KokoroModelTest, VoicesMix) {
  const auto model = Load();
  const auto speak = [&](const std::string& voice) {
    models::SynthesizeInput input = speech::Say("One, two, three.");
    input.voice = voice;
    return speech::Samples(*model, input);
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
  models::SynthesizeInput input = speech::Say("The quick brown fox jumps.");
  const size_t normal = speech::Samples(*model, input).size();
  input.speed = 2;
  const size_t fast = speech::Samples(*model, input).size();
  input.speed = 0.5F;
  const size_t slow = speech::Samples(*model, input).size();
  EXPECT_NEAR(static_cast<double>(fast), static_cast<double>(normal) / 2, 1);
  EXPECT_NEAR(static_cast<double>(slow), static_cast<double>(normal) * 2, 1);
}

TEST_F(KokoroModelTest, BadInputIsRefusedByFieldValueAndWhatIsAllowed) {
  const auto model = Load();
  const auto error = [&](const models::SynthesizeInput& input) {
    const absl::Status status = model->Validate(input);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  models::SynthesizeInput input = speech::Say("Hello.");
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
  input = speech::Say("Hello.");
  input.voice = "dora";
  EXPECT_EQ(error(input), "voice: there is no voice 'dora'; there are: anna, ben");
  input.voice = "anna:0.6+ben:0.6";  // weights are divided by their sum
  EXPECT_TRUE(model->Validate(input).ok());
  input = speech::Say("Hello.");
  input.noise_scale = 0.5F;
  EXPECT_NE(error(input).find("noise_scale: 0.5 is not allowed"), std::string::npos);
  EXPECT_NE(error(speech::Say("?!")).find("text: there is nothing to speak"), std::string::npos);
  EXPECT_EQ(model->Validate(models::TranslateInput{}).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(KokoroModelTest, AUnitWithTooManyPhonemesIsCut) {
  const auto model = Load({.positions = 20});
  speech::Collector sink;
  ASSERT_TRUE(speech::SpeakAll(
                  *model, speech::Say("Many small words make one rather long sentence here"), sink)
                  .ok());
  EXPECT_GE(sink.parts.size(), 3U);
  std::string all;
  for (const models::SynthesizeOutput& part : sink.parts)
    all += (all.empty() ? "" : " ") + part.text;
  EXPECT_EQ(all, "Many small words make one rather long sentence here");
}

TEST_F(KokoroModelTest, ATextThatCannotBeCutEndsWithAnError) {
  const auto model = Load({.positions = 3});
  speech::Collector sink;
  const absl::Status status = speech::SpeakAll(*model, speech::Say("Hi"), sink);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("allowed are 1"), std::string::npos) << status;
}

TEST_F(KokoroModelTest, AUnitThatWouldLastTooLongIsCutBeforeItIsDecoded) {
  // Sigmoids of 1 each: every phoneme lasts 5000 frames of 32 samples, 6.7 seconds.
  const auto model =
      Load({.durations = 5000, .values = {{"predictor.duration_proj.linear_layer.bias", 50.0F}}});
  speech::Collector sink;
  models::SynthesizeInput input = speech::Say("one two");
  input.speed = 2;
  EXPECT_TRUE(speech::SpeakAll(*model, input, sink).ok());
  EXPECT_GE(sink.parts.size(), 1U);
  for (const models::SynthesizeOutput& part : sink.parts)
    EXPECT_LE(part.samples.size(), 30U * 24000);
  const auto longer =
      Load({.durations = 60000, .values = {{"predictor.duration_proj.linear_layer.bias", 50.0F}}});
  speech::Collector silent;
  const absl::Status status = speech::SpeakAll(*longer, speech::Say("one"), silent);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("text: one sentence would last"), std::string::npos) << status;
  EXPECT_TRUE(silent.parts.empty());
}

TEST_F(KokoroModelTest, ACancelledRequestIsNotSpoken) {
  const auto model = Load();
  models::FakeWorkerContext context;
  speech::Collector sink;
  models::Request request(speech::Say("Hello there."), TimePoint::max(), sink);
  std::vector<models::Request*> requests = {&request};
  const std::unique_ptr<models::Batch> batch = model->Prepare(requests);
  ASSERT_NE(batch, nullptr);
  sink.Cancel();
  batch->Forward(context);
  batch->Complete();
  EXPECT_TRUE(sink.parts.empty());
  EXPECT_FALSE(request.outcome());
}

TEST_F(KokoroModelTest, TheWarmUpSpeaksManyLengthsWhereShapesAreFew) {
  const auto lengths = [&] {
    const auto model = TryLoad();
    EXPECT_TRUE(model.ok()) << model.status();
    EXPECT_EQ((*model)->WarmupBatches(), std::vector<size_t>{1});
    std::set<size_t> samples;
    for (const models::Input& input : (*model)->WarmupInputs()) {
      EXPECT_TRUE((*model)->Validate(input).ok());
      samples.insert(speech::Samples(**model, std::get<models::SynthesizeInput>(input)).size());
    }
    return samples.size();
  };
  context_.shapes = models::ShapePolicy::kPadded;
  EXPECT_EQ(lengths(), 1U);
  context_.shapes = models::ShapePolicy::kFew;
  EXPECT_GE(lengths(), 10U);
  EXPECT_LE(lengths(), 50U);
}

TEST_F(KokoroModelTest, WhatIsStreamedBeginsWithAClause) {
  const auto model = Load();
  models::SynthesizeInput input =
      speech::Say("I see it now, two of them are red. One more, I say to you, is it.");
  const auto texts = [&] {
    speech::Collector sink;
    EXPECT_TRUE(speech::SpeakAll(*model, input, sink).ok());
    std::vector<std::string> all;
    for (const models::SynthesizeOutput& part : sink.parts) all.push_back(part.text);
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
  speech::Collector sink;
  const absl::Status status = speech::SpeakAll(*model, speech::Say("Hello."), sink);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_NE(status.message().find("a length that is no number"), std::string::npos) << status;
}

}  // namespace
}  // namespace millrace::kokoro
