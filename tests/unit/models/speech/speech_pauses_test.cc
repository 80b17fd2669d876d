// Silence between the units of a text, and at the ends of each.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "models/speech/sound_edges.h"
#include "models/speech/speech_check.h"
#include "models/speech/speech_plan.h"
#include "tests/unit/models/speech/letter_reader.h"

namespace millrace::speech {
namespace {

constexpr int kPausesRate = 8000;
constexpr double kNear = 0.006;  // seconds; sounds are found to 5 ms

// Returns the samples that a network gives a unit: silence, half a second of sound, silence.
std::vector<float> Spoken(double lead, double tail) {
  const auto count = [](double seconds) {
    return static_cast<size_t>(std::lround(seconds * kPausesRate));
  };
  std::vector<float> samples(count(lead), 0.0F);
  for (size_t i = 0; i < count(0.5); ++i)
    samples.push_back(0.2F * std::sin(static_cast<float>(i) * 0.5F));
  samples.resize(samples.size() + count(tail), 0.0F);
  return samples;
}

class SpeechPausesTest : public ::testing::Test {
 protected:
  // The audio of a text whose units last so long, in chunks of so many samples; 0: whole.
  std::vector<float> Speak(const models::SynthesizeInput& input, double lead, double tail,
                           size_t chunk = 0) {
    NoSink sink;
    models::Request request(input, TimePoint::max(), sink);
    SpeechPlan plan(std::get<models::SynthesizeInput>(request.input()),
                    {.lead_samples = edge_, .tail_samples = edge_});
    std::vector<float> audio;
    words_.clear();
    while (plan.Prepare(request, reader_)) {
      const std::vector<float> samples = Spoken(lead, tail);
      // The voice says that the sound lasts to the end, as Kokoro does.
      std::vector<int64_t> frames(plan.ids().size(), 1);
      frames[1] =
          static_cast<int64_t>(samples.size()) / 8 - static_cast<int64_t>(frames.size()) + 1;
      plan.SetFrames(frames, 8);
      for (size_t at = 0; at < samples.size();) {
        const size_t rest = samples.size() - at;
        const size_t count = chunk == 0 || rest < chunk + edge_ ? rest : chunk;
        models::SynthesizeOutput output =
            plan.TakeChunk({samples.begin() + static_cast<std::ptrdiff_t>(at),
                            samples.begin() + static_cast<std::ptrdiff_t>(at + count)},
                           kPausesRate, count == rest);
        for (models::SpokenSpan& word : output.words) {
          word.begin += static_cast<int64_t>(audio.size());
          word.end += static_cast<int64_t>(audio.size());
          words_.push_back(word);
        }
        audio.insert(audio.end(), output.samples.begin(), output.samples.end());
        at += count;
      }
      if (!plan.Advance()) break;
    }
    return audio;
  }
  // Seconds of the silences of an audio: before the first sound, between sounds, behind the last.
  static std::vector<double> Silences(std::vector<float> audio) {
    std::vector<double> seconds;
    std::span<const float> rest(audio);
    while (const auto begin = FirstSound(rest, kPausesRate)) {
      seconds.push_back(static_cast<double>(*begin) / kPausesRate);
      rest = rest.subspan(*begin);
      size_t end = 0;
      while (end < rest.size() && FirstSound(rest.subspan(end), kPausesRate) == 0)
        end += kPausesRate / 200;
      rest = rest.subspan(std::min(end, rest.size()));
    }
    seconds.push_back(static_cast<double>(rest.size()) / kPausesRate);
    return seconds;
  }
  static models::SynthesizeInput Say(const std::string& text) {
    models::SynthesizeInput input;
    input.text = text;
    input.word_times = true;
    return input;
  }
  static void ExpectNear(const std::vector<double>& found, const std::vector<double>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], kNear) << i;
  }

  LetterReader reader_;
  size_t edge_ = 0;
  std::vector<models::SpokenSpan> words_;
};

TEST_F(SpeechPausesTest, WhateverSilenceTheVoiceGivesPausesAreThoseOfTheText) {
  for (const double silence : {0.0, 0.3, 0.9}) {
    ExpectNear(Silences(Speak(Say("Abc. Def!\n\nAbc."), silence, silence)), {0.03, 0.4, 0.8, 0.1});
  }
}

TEST_F(SpeechPausesTest, ARequestSaysHowLongPausesAre) {
  models::SynthesizeInput input = Say("Abc. Def!\n\nAbc.");
  input.sentence_pause = 1;
  input.paragraph_pause = 2;
  input.speed = 2;
  ExpectNear(Silences(Speak(input, 0.3, 0.3)), {0.015, 1, 2, 0.05});
  input.sentence_pause = 0;
  input.paragraph_pause = -1;  // the voice's own goes with the speed
  ExpectNear(Silences(Speak(input, 0.3, 0.3)), {0.015, 0.065, 0.4, 0.05});
}

TEST_F(SpeechPausesTest, ATextThatGoesOnBeginsWithItsPause) {
  models::SynthesizeInput input = Say("Abc.");
  input.break_before = models::SpeechBreak::kParagraph;
  input.first_sentence = 1;
  ExpectNear(Silences(Speak(input, 0, 0)), {0.7, 0.1});
}

TEST_F(SpeechPausesTest, InChunksTheSamplesAreTheSame) {
  edge_ = 1600;
  const models::SynthesizeInput input = Say("Abc. Def!\n\nAbc.");
  const std::vector<float> whole = Speak(input, 0.1, 0.15);
  const std::vector<models::SpokenSpan> words = words_;
  EXPECT_EQ(Speak(input, 0.1, 0.15, 1600), whole);
  ASSERT_EQ(words_.size(), words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    EXPECT_LE(words_[i].end, static_cast<int64_t>(whole.size()));
    // With the first chunk nobody knows where the sound ends.
    EXPECT_LT(words_[i].begin, words[i].begin) << i;
    EXPECT_NEAR(static_cast<double>(words_[i].end - words[i].end) / kPausesRate, 0.15, kNear) << i;
  }
}

TEST_F(SpeechPausesTest, SilenceThatIsLongerThanAChunkIsTrimmedToo) {
  edge_ = 1600;  // 0.2 s
  const std::vector<double> usual = Silences(Speak(Say("Abc. Def!"), 0.1, 0.15));
  for (const double silence : {0.19, 0.2, 0.21, 0.56, 0.8}) {
    const std::vector<float> whole = Speak(Say("Abc. Def!"), silence, 0.15);
    ExpectNear(Silences(whole), usual);
    const std::vector<models::SpokenSpan> words = words_;
    EXPECT_EQ(Speak(Say("Abc. Def!"), silence, 0.15, 1600), whole) << silence;
    ASSERT_EQ(words_.size(), words.size()) << silence;
    for (size_t i = 0; i < words.size(); ++i)
      EXPECT_LE(words_[i].end, static_cast<int64_t>(whole.size())) << silence;
  }
}

TEST_F(SpeechPausesTest, WordsAreWhereTheyAreHeard) {
  for (const size_t edge : {0, 1600}) {
    edge_ = edge;
    const std::vector<float> audio = Speak(Say("Abc. Def! Fed?"), 0.3, 0.5);
    ASSERT_EQ(words_.size(), 3U);
    for (const models::SpokenSpan& span : words_) {
      const std::span<const float> word = std::span<const float>(audio).subspan(
          static_cast<size_t>(span.begin), static_cast<size_t>(span.end - span.begin));
      EXPECT_NEAR(static_cast<double>(word.size()) / kPausesRate, 0.5, 2 * kNear);
      EXPECT_EQ(FirstSound(word, kPausesRate), 0U);
      EXPECT_FALSE(LongestSilence(word, kPausesRate));
    }
  }
}

TEST_F(SpeechPausesTest, APauseIsBounded) {
  models::ModelInfo info;
  info.details = models::SpeechInfo();
  for (float models::SynthesizeInput::*pause :
       {&models::SynthesizeInput::sentence_pause, &models::SynthesizeInput::paragraph_pause}) {
    models::SynthesizeInput input = Say("Abc.");
    input.*pause = 10;
    EXPECT_TRUE(CheckSpeech(input, info, reader_).ok());
    for (const float bad : {10.5F, std::nanf("")}) {
      input.*pause = bad;
      const std::string message(CheckSpeech(input, info, reader_).message());
      EXPECT_NE(message.find("pause_seconds: "), std::string::npos) << message;
      EXPECT_NE(message.find("it is 0..10"), std::string::npos) << message;
    }
  }
}

TEST(BreakBehindTest, IsTheEndOfAParagraphASentenceOrAClause) {
  EXPECT_EQ(BreakBehind(""), models::SpeechBreak::kNone);
  EXPECT_EQ(BreakBehind(" \n"), models::SpeechBreak::kNone);
  for (const char* text : {"One,", "One, ", "One", "Dr", "(one)"})
    EXPECT_EQ(BreakBehind(text), models::SpeechBreak::kClause) << text;
  for (const char* text : {"One. ", "One?", "\"One!\" ", "One\n", "はい。", "one….”) "})
    EXPECT_EQ(BreakBehind(text), models::SpeechBreak::kSentence) << text;
  for (const char* text : {"One.\n\n", "One\n \n ", "One\r\n\r\n"})
    EXPECT_EQ(BreakBehind(text), models::SpeechBreak::kParagraph) << text;
}

}  // namespace
}  // namespace millrace::speech
