// Texts with markup as a plan speaks them: pauses, times and levels to the sample.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "models/speech/speech_check.h"
#include "models/speech/speech_plan.h"
#include "tests/unit/models/speech/letter_reader.h"

namespace millrace::speech {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kMarkedRate = 1000;
// Samples of each unit: loud throughout, so that none of it is cut off.
constexpr size_t kUnit = 500;
// The voice keeps 30 ms before a unit, as silence of its own where there is none, and 100 ms
// behind.
constexpr size_t kEdges = 130;

class MarkedSpeechTest : public ::testing::Test {
 protected:
  class Audio final : public models::OutputSink {
   public:
    void Emit(models::Output output) override {
      auto& chunk = std::get<models::SynthesizeOutput>(output);
      for (models::SpokenSpan word : chunk.words) {
        word.begin += static_cast<int64_t>(samples.size());
        word.end += static_cast<int64_t>(samples.size());
        words.push_back(std::move(word));
      }
      samples.insert(samples.end(), chunk.samples.begin(), chunk.samples.end());
      sentences.push_back(chunk.sentence_index);
    }

    std::vector<float> samples;
    std::vector<models::SpokenSpan> words;
    std::vector<size_t> sentences;
  };

  // Adds a part to the text.
  void Add(const std::string& text, models::SpeechManner manner = {}, double pause = -1,
           models::SpeechBreak least = models::SpeechBreak::kNone) {
    const size_t begin = input_.text.size();
    input_.text += text;
    input_.markup.parts.push_back({begin, input_.text.size(), std::move(manner), pause, least});
  }
  void Speak() {
    models::Request request(input_, TimePoint::max(), audio_);
    const auto& input = std::get<models::SynthesizeInput>(request.input());
    SpeechPlan plan(input, {.sample_rate = kMarkedRate});
    while (plan.Prepare(request, reader_)) {
      voices_.push_back(plan.voice());
      speeds_.push_back(plan.speed());
      phonemes_.emplace_back();
      for (const int64_t id : plan.ids()) {
        if (id != 0) phonemes_.back() += static_cast<char>(id);
      }
      std::vector<int64_t> frames(plan.ids().size(), 0);
      // The sounds share the unit evenly.
      const auto share = static_cast<int64_t>(kUnit / plan.symbols());
      for (size_t i = 1; i + 1 < frames.size(); i += 2) frames[i] = share;
      plan.SetFrames(frames, 1);
      request.Emit(plan.TakeChunk(std::vector<float>(kUnit, 0.5F), kMarkedRate, true));
      if (!plan.Advance()) request.Finish(absl::OkStatus());
    }
    status_ = request.outcome().value_or(absl::InternalError("not finished"));
  }
  // Returns the lengths of the sounds and, negative, of the silences.
  std::vector<int> Runs() const {
    std::vector<int> runs;
    for (const float sample : audio_.samples) {
      const bool sound = sample != 0;
      if (runs.empty() || (runs.back() > 0) != sound) runs.push_back(0);
      runs.back() += sound ? 1 : -1;
    }
    return runs;
  }

  models::SynthesizeInput input_;
  LetterReader reader_;
  Audio audio_;
  std::vector<std::string> voices_;
  std::vector<float> speeds_;
  std::vector<std::string> phonemes_;
  absl::Status status_;
};

TEST_F(MarkedSpeechTest, PausesAreExactAndInPlaceOfTheUsualOnes) {
  Add("Abc. ");
  Add("Def.", {}, 1.234);
  Add(" Abc.");
  input_.markup.parts.back().pause = 0;
  input_.markup.pause_after = 0.777;
  Speak();
  EXPECT_TRUE(status_.ok()) << status_;
  EXPECT_THAT(Runs(), ElementsAre(-30, 500, -(100 + 1234 + 30), 500, -kEdges, 500, -(100 + 777)));
  EXPECT_THAT(audio_.sentences, ElementsAre(0U, 1U, 2U, 2U));
}

TEST_F(MarkedSpeechTest, APauseBeforeTheTextAndOneOfPartsWithoutSpeechCount) {
  Add("", {}, 0.5);
  Add("?!", {}, 0.25);
  Add("Abc", {}, 0.1);
  Add("...", {}, 0.2);
  input_.markup.pause_after = 0.3;
  Speak();
  EXPECT_TRUE(status_.ok()) << status_;
  EXPECT_THAT(Runs(), ElementsAre(-(850 + 30), 500, -(100 + 500)));
}

TEST_F(MarkedSpeechTest, APauseDoesNotDependOnTheSpeed) {
  Add("Abc.");
  Add("Def.", {.speed = 2}, 1);
  input_.speed = 0.5F;
  Speak();
  // The silence that is kept behind the first unit lasts twice as long at half the speed.
  EXPECT_THAT(Runs(), ElementsAre(-60, 500, -(200 + 1000 + 30), 500, -100));
  EXPECT_THAT(speeds_, ElementsAre(0.5F, 1.0F));
}

TEST_F(MarkedSpeechTest, OnlyAPauseIsAnAnswerOfATextThatGoesOn) {
  input_.part_of_text = true;
  Add("");
  input_.markup.pause_after = 0.4;
  Speak();
  EXPECT_TRUE(status_.ok()) << status_;
  EXPECT_THAT(Runs(), ElementsAre(-400));
}

TEST_F(MarkedSpeechTest, BreaksAreAtLeastThoseOfTheMarkup) {
  Add("abc ");
  Add("def ", {}, -1, models::SpeechBreak::kParagraph);
  Add("abc ", {.speed = 1.5F});
  Speak();
  // A paragraph's 0.8 s, then that of a clause: 0.15 s at the speed of what follows. Both include
  // the edges.
  EXPECT_THAT(Runs(), ElementsAre(-30, 500, -800, 500, -(100 + 100 - 20 - 67 + 20), 500, -67));
}

TEST_F(MarkedSpeechTest, EachPartHasItsVoiceAndLevel) {
  input_.voice = "usual";
  Add("abc ");
  Add("def ", {.voice = "other", .gain_db = -20});
  Speak();
  EXPECT_THAT(voices_, ElementsAre("usual", "other"));
  EXPECT_FLOAT_EQ(*std::ranges::max_element(audio_.samples), 0.5F);
  EXPECT_NEAR(audio_.samples[audio_.samples.size() - 200], 0.05F, 1e-6);
}

TEST_F(MarkedSpeechTest, LouderSpeechDoesNotClip) {
  Add("abc", {.gain_db = 12});
  Speak();
  const float loudest = *std::ranges::max_element(audio_.samples);
  EXPECT_GT(loudest, 0.95F);
  EXPECT_LT(loudest, 1.0F);
}

TEST_F(MarkedSpeechTest, WordTimesAreThoseOfTheWholeAudioAndOfTheSource) {
  input_.word_times = true;
  Add("abc ");
  Add("def", {}, 2);
  // As in "<speak>abc <break time='2s'/>def".
  input_.markup.anchors = {{0, 7}, {4, 29}};
  Speak();
  ASSERT_EQ(audio_.words.size(), 2U);
  EXPECT_EQ(audio_.words[0].begin, 30);
  EXPECT_EQ(audio_.words[0].end, 30 + 500);
  EXPECT_EQ(audio_.words[0].character, 7U);
  EXPECT_EQ(audio_.words[1].text, "def");
  EXPECT_EQ(audio_.words[1].begin, 30 + 500 + 100 + 2000 + 30);
  EXPECT_EQ(audio_.words[1].character, 29U);
}

TEST_F(MarkedSpeechTest, APronunciationIsSpokenAndAReadingIsOneWord) {
  input_.word_times = true;
  reader_.max = 20;
  Add("ab cd, (f) fed.");
  input_.markup.readings = {
      {.begin = 3, .end = 5, .written = "c&d", .phonemes = "be", .is_ipa = true},
      {.begin = 8, .end = 14, .written = "x"}};
  input_.markup.anchors = {{0, 0}, {3, 20}, {5, 40}, {8, 60}};
  Speak();
  EXPECT_THAT(phonemes_, ElementsAre("AB BE, F FED."));
  std::vector<std::string> words;
  for (const models::SpokenSpan& word : audio_.words)
    words.push_back(word.text + "@" + std::to_string(word.character));
  EXPECT_THAT(words, ElementsAre("ab@0", "c&d@20", "x@60"));
}

TEST_F(MarkedSpeechTest, AReadingOfSeveralUnitsIsTheSameWordInEach) {
  input_.word_times = true;
  Add("ab cdef fedc.");
  input_.markup.readings = {{.begin = 3, .end = 13, .written = "x"}};
  input_.markup.anchors = {{0, 10}, {3, 20}};
  Speak();
  EXPECT_THAT(phonemes_, ElementsAre("AB", "CDEF", "FEDC."));
  ASSERT_EQ(audio_.words.size(), 3U);
  for (const size_t i : {1U, 2U}) {
    EXPECT_EQ(audio_.words[i].text, "x");
    EXPECT_EQ(audio_.words[i].character, 20U);
  }
}

TEST_F(MarkedSpeechTest, AnUnknownSymbolIsNamedWithItsPlace) {
  models::ModelInfo info;
  info.details = models::SpeechInfo{.languages = {"en"}};
  Add("abc");
  input_.markup.readings = {
      {.begin = 0, .end = 3, .written = "abc", .phonemes = "aXb", .place = "line 2, column 9"}};
  EXPECT_THAT(std::string(CheckSpeech(input_, info, reader_).message()),
              HasSubstr("text: line 2, column 9: <phoneme>: ph: the voice does not know the symbol "
                        "'a' (U+0061) at byte 0; it knows: A B"));
  input_.markup.readings[0].is_ipa = true;
  EXPECT_THAT(std::string(CheckSpeech(input_, info, reader_).message()),
              HasSubstr("the symbol 'X'"));
}

TEST_F(MarkedSpeechTest, WhatCannotBeReadIsNamedByItsPlaceInTheSource) {
  // The source is "<p>abc</p> [#](/A/) bc d#": the first '#' has a pronunciation.
  Add("abc");
  Add("# bc d#");
  input_.markup.readings = {{3, 4, "#", "A"}};
  input_.markup.anchors = {{0, 3}, {3, 12}, {4, 19}};
  const std::string message = "text: the '#' at character 24 is none";
  models::ModelInfo info;
  info.details = models::SpeechInfo{};
  EXPECT_EQ(CheckSpeech(input_, info, reader_).message(), message);
  Speak();
  EXPECT_EQ(status_.message(), message);
}

TEST_F(MarkedSpeechTest, SpeedAndLanguageOfEachPartAreChecked) {
  models::ModelInfo info;
  info.details = models::SpeechInfo{.languages = {"en"}, .min_speed = 0.5F, .max_speed = 2};
  Add("abc", {.language = "fr", .speed = 3});
  EXPECT_THAT(std::string(CheckSpeech(input_, info, reader_).message()),
              HasSubstr("does not speak 'fr'; it speaks: en"));
  EXPECT_EQ(CheckSpeed(input_, info.speech()).message(), "speed: 3 is not allowed; it is 0.5..2");
  input_.markup.parts[0].manner.speed = 1;
  EXPECT_TRUE(CheckSpeed(input_, info.speech()).ok());
}

}  // namespace
}  // namespace millrace::speech
