#include "models/speech/speech_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "models/speech/speech_check.h"
#include "tests/unit/models/speech/letter_reader.h"

namespace millrace::speech {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SpeechPlanTest : public ::testing::Test {
 protected:
  SpeechPlanTest() {
    info_.name = "letters";
    info_.details = models::SpeechInfo{.languages = {"en", "ja"}};
  }

  // Returns all units.
  std::vector<std::string> Units(const models::SynthesizeInput& input) {
    models::Request request(input, TimePoint::max(), sink_);
    SpeechPlan plan(std::get<models::SynthesizeInput>(request.input()), {});
    std::vector<std::string> units;
    while (plan.Prepare(request, reader_)) {
      EXPECT_EQ(plan.ids().size(), 2 + 2 * plan.symbols());
      EXPECT_EQ(plan.spoken(), units.size());
      units.push_back(plan.TakeChunk({}, 8000, true).text);
      if (!plan.Advance()) request.Finish(absl::OkStatus());
    }
    status_ = request.outcome().value_or(absl::InternalError("not finished"));
    return units;
  }
  // Returns what is spoken, each unit in one chunk of silence.
  std::vector<models::SynthesizeOutput> Spoken(const models::SynthesizeInput& input) {
    models::Request request(input, TimePoint::max(), sink_);
    SpeechPlan plan(std::get<models::SynthesizeInput>(request.input()), {});
    std::vector<models::SynthesizeOutput> chunks;
    while (plan.Prepare(request, reader_)) {
      plan.SetFrames(std::vector<int64_t>(plan.ids().size(), 1), 80);
      chunks.push_back(plan.TakeChunk(std::vector<float>(plan.ids().size() * 80), 8000, true));
      if (!plan.Advance()) break;
    }
    return chunks;
  }
  static models::SynthesizeInput Say(const std::string& text, bool is_phonemes = false) {
    models::SynthesizeInput input;
    input.text = text;
    input.is_phonemes = is_phonemes;
    return input;
  }

  models::ModelInfo info_;
  LetterReader reader_;
  NoSink sink_;
  absl::Status status_;
};

TEST_F(SpeechPlanTest, GoesThroughTheSentencesThatHaveSomethingToSpeak) {
  EXPECT_THAT(Units(Say("Abc. ?!\nDef!")), ElementsAre("Abc.", "Def!"));
  EXPECT_TRUE(status_.ok()) << status_;
  EXPECT_THAT(Units(Say("xyz")), ElementsAre());
  EXPECT_EQ(status_.message(), "text: there is nothing in it that the voice can speak");
}

TEST_F(SpeechPlanTest, SpeaksWhatWasReadAhead) {
  class OtherReader final : public SpeechReader {
   public:
    absl::StatusOr<models::PhonemeText> ToPhonemes(std::string_view, std::string_view,
                                                   bool) const override {
      return absl::UnavailableError("read once more");
    }
    std::string FromIpa(std::string_view) const override { return ""; }
    PhonemeIds ToIds(std::string_view phonemes) const override { return letters_.ToIds(phonemes); }
    std::string Symbols() const override { return letters_.Symbols(); }
    size_t max_symbols() const override { return letters_.max_symbols(); }

   private:
    const LetterReader letters_ = {};
  } fails;
  models::Request request(Say("Abc. Def."), TimePoint::max(), sink_);
  SpeechPlan plan(std::get<models::SynthesizeInput>(request.input()), {});
  ASSERT_TRUE(plan.WantsReading());
  plan.ReadAhead(reader_);
  EXPECT_FALSE(plan.WantsReading());
  ASSERT_TRUE(plan.Prepare(request, fails));
  EXPECT_EQ(plan.symbols(), 4U);
  EXPECT_FALSE(plan.WantsReading());
  ASSERT_TRUE(plan.Advance());
  EXPECT_TRUE(plan.WantsReading());  // a reading is used once
  EXPECT_FALSE(plan.Prepare(request, fails));
  EXPECT_EQ(request.outcome()->message(), "read once more");
}

TEST_F(SpeechPlanTest, WorkLeftFallsWithEachUnitToNothing) {
  models::SynthesizeInput input = Say("Abc. Bad. Fed cab.");
  input.speed = 2;
  models::Request request(input, TimePoint::max(), sink_);
  SpeechPlan plan(std::get<models::SynthesizeInput>(request.input()), {});
  double left = plan.WorkLeft();
  EXPECT_GE(left, EstimateWork(input));
  EXPECT_DOUBLE_EQ(EstimateWork(input), EstimateWork(Say(input.text)) / 2);
  while (plan.Prepare(request, reader_)) {
    EXPECT_DOUBLE_EQ(plan.WorkLeft(), left);
    EXPECT_LT(plan.WorkLeft(0.5), left);
    const bool more = plan.Advance();
    EXPECT_LT(plan.WorkLeft(), left);
    left = plan.WorkLeft();
    if (!more) break;
  }
  EXPECT_EQ(left, 0);
}

TEST_F(SpeechPlanTest, PhonemesAreSpokenAsTheyAre) {
  EXPECT_THAT(Units(Say("AB. CA. ...\nDEF", true)), ElementsAre("AB.", "CA.", "DEF"));
  EXPECT_TRUE(status_.ok()) << status_;
}

TEST_F(SpeechPlanTest, WhatIsTooLongIsHalvedOrRefusedByItsField) {
  EXPECT_THAT(Units(Say("abc def abc, def")), ElementsAre("abc def", "abc, def"));
  EXPECT_TRUE(status_.ok()) << status_;
  reader_.max = 0;
  EXPECT_THAT(Units(Say("Abc")), ElementsAre());
  EXPECT_EQ(status_.message(),
            "text: 'Abc' has 3 phonemes without a place to cut it, allowed are 0");
  EXPECT_THAT(Units(Say("ABC", true)), ElementsAre());
  EXPECT_THAT(status_.message(), HasSubstr("phonemes: 'ABC' has 3 phonemes"));
}

TEST_F(SpeechPlanTest, AFailingFrontEndEndsTheRequest) {
  EXPECT_THAT(Units(Say("fail")), ElementsAre());
  EXPECT_EQ(status_.message(), "no front end");
}

TEST_F(SpeechPlanTest, WhatCannotBeReadIsNamedByItsPlaceInTheWholeText) {
  const models::SynthesizeInput input = Say("Abc. Cd.\n\n éé d#.");
  EXPECT_EQ(CheckSpeech(input, info_, reader_).message(), "text: the '#' at byte 17 is none");
  reader_.checks = false;
  EXPECT_TRUE(CheckSpeech(input, info_, reader_).ok());
  EXPECT_THAT(Units(input), ElementsAre("Abc.", "Cd."));
  EXPECT_EQ(status_.message(), "text: the '#' at byte 17 is none");
}

// Each run begins behind a sentence that another one spoke as a whole.
TEST_F(SpeechPlanTest, GoesOnBehindWhatAnEarlierRunSpoke) {
  reader_.max = 7;
  models::SynthesizeInput input = Say("Abc. ?!\n\nDef abc, def fed abc. Fed cab! Abc");
  input.word_times = true;
  const std::vector<models::SynthesizeOutput> whole = Spoken(input);
  ASSERT_GT(whole.size(), 5u);
  size_t places = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    if (whole[i].spoken == models::SpokenSoFar()) continue;
    ++places;
    input.spoken = whole[i].spoken;
    EXPECT_EQ(input.spoken.sentences, i + 1);
    const std::vector<models::SynthesizeOutput> rest = Spoken(input);
    ASSERT_EQ(rest.size(), whole.size() - i - 1);
    for (size_t j = 0; j < rest.size(); ++j) {
      const models::SynthesizeOutput& expected = whole[i + 1 + j];
      EXPECT_EQ(rest[j].text, expected.text);
      EXPECT_EQ(rest[j].sentence_index, expected.sentence_index);
      EXPECT_EQ(rest[j].samples.size(), expected.samples.size()) << "the pause";
      EXPECT_EQ(rest[j].words, expected.words);
      EXPECT_EQ(rest[j].spoken, expected.spoken);
    }
  }
  // Behind "Def abc," and the like it cannot.
  EXPECT_EQ(places, 4u);
}

TEST_F(SpeechPlanTest, TheTextGoesWithTheFirstChunk) {
  models::Request request(Say("Abc."), TimePoint::max(), sink_);
  SpeechPlan plan(std::get<models::SynthesizeInput>(request.input()), {});
  ASSERT_TRUE(plan.Prepare(request, reader_));
  const models::SynthesizeOutput first = plan.TakeChunk({0, 0}, 8000, false);
  EXPECT_EQ(first.text, "Abc.");
  EXPECT_FALSE(first.sentence_finished);
  EXPECT_EQ(first.sample_rate, 8000);
  EXPECT_EQ(first.samples, (std::vector<float>{0, 0}));
  const models::SynthesizeOutput second = plan.TakeChunk({}, 8000, true);
  EXPECT_EQ(second.text, "");
  EXPECT_TRUE(second.sentence_finished);
}

// Times as "text:begin-end@character".
std::string Shown(const std::vector<models::SpokenSpan>& times) {
  std::string shown;
  for (const models::SpokenSpan& time : times) {
    shown += time.text + ":" + std::to_string(time.begin) + "-" + std::to_string(time.end) + "@" +
             std::to_string(time.character) + " ";
  }
  return shown;
}

TEST_F(SpeechPlanTest, TimesFollowFromTheFramesAndGoWithTheFirstChunk) {
  models::SynthesizeInput input = Say("éé\nAbx, (cd)!");
  input.word_times = input.phoneme_times = true;
  models::Request request(input, TimePoint::max(), sink_);
  SpeechPlan plan(std::get<models::SynthesizeInput>(request.input()), {});
  ASSERT_TRUE(plan.Prepare(request, reader_));
  // The start, A and its pad, B, the comma, a space, C, D, the mark, the end.
  ASSERT_EQ(plan.ids().size(), 16U);
  const std::vector<int64_t> frames = {5, 1, 1, 2, 1, 3, 1, 1, 1, 4, 1, 5, 1, 6, 1, 9};
  plan.SetFrames(frames, 10);
  plan.SetFrames(frames, 10);  // a step that is tried again
  const models::SynthesizeOutput chunk = plan.TakeChunk({}, 8000, false);
  EXPECT_EQ(Shown(chunk.phonemes),
            "A:50-70@0 B:70-100@0 ,:100-140@0  :140-160@0 C:160-210@0 "
            "D:210-270@0 !:270-430@0 ");  // a mark at the end has 20 ms
  EXPECT_EQ(Shown(chunk.words), "Abx:50-100@3 cd:160-270@9 ");
  const models::SynthesizeOutput next = plan.TakeChunk({}, 8000, true);
  EXPECT_TRUE(next.words.empty());
  EXPECT_TRUE(next.phonemes.empty());
}

TEST_F(SpeechPlanTest, StretchedUnitsAndTheirTimesAreTrueToTheSpeed) {
  // Silence, a second of sound, and silence.
  std::vector<float> samples(24000, 0.0F);
  std::fill(samples.begin() + 8000, samples.begin() + 16000, 0.5F);
  const auto speak = [&](float speed) {
    models::SynthesizeInput input = Say("AB.", true);
    input.phoneme_times = true;
    input.speed = speed;
    models::Request request(input, TimePoint::max(), sink_);
    SpeechPlan plan(std::get<models::SynthesizeInput>(request.input()), {.stretched_symbols = 3});
    EXPECT_TRUE(plan.Prepare(request, reader_));
    plan.SetFrames(std::vector<int64_t>{80, 40, 0, 40, 0, 80, 0, 0}, 100);
    return plan.TakeChunk(samples, 8000, true);
  };
  const models::SynthesizeOutput normal = speak(1);
  EXPECT_EQ(normal.samples.size(), 8000U + 240 + 800);  // with 0.03 s before it and 0.1 s behind it
  for (const float speed : {0.5F, 1.25F, 2.0F}) {
    const models::SynthesizeOutput other = speak(speed);
    EXPECT_EQ(other.samples.size(), static_cast<size_t>(std::lround(9040 / speed)));
    ASSERT_EQ(other.phonemes.size(), normal.phonemes.size());
    for (size_t i = 0; i < normal.phonemes.size(); ++i) {
      EXPECT_EQ(other.phonemes[i].begin,
                std::lround(static_cast<float>(normal.phonemes[i].begin) / speed));
      EXPECT_EQ(other.phonemes[i].end,
                std::lround(static_cast<float>(normal.phonemes[i].end) / speed));
    }
  }
}

TEST_F(SpeechPlanTest, TimesOfPhonemesInPlaceOfATextAreTheirs) {
  models::SynthesizeInput input = Say("A. BC, D.", true);
  input.word_times = true;
  input.sentence_pause = 0;
  models::Request request(input, TimePoint::max(), sink_);
  SpeechPlan plan(std::get<models::SynthesizeInput>(request.input()), {});
  std::string words;
  while (plan.Prepare(request, reader_)) {
    plan.SetFrames(std::vector<int64_t>(plan.ids().size(), 1), 1);
    const models::SynthesizeOutput chunk = plan.TakeChunk({}, 8000, true);
    words += Shown(chunk.words);
    EXPECT_TRUE(chunk.phonemes.empty());
    if (!plan.Advance()) break;
  }
  EXPECT_EQ(words, "A:1-3@0 BC:1-5@3 D:9-11@7 ");
}

TEST_F(SpeechPlanTest, WithoutAskingThereAreNoTimes) {
  models::Request request(Say("Abc."), TimePoint::max(), sink_);
  SpeechPlan plan(std::get<models::SynthesizeInput>(request.input()), {});
  ASSERT_TRUE(plan.Prepare(request, reader_));
  plan.SetFrames(std::vector<int64_t>(plan.ids().size(), 1), 1);
  const models::SynthesizeOutput chunk = plan.TakeChunk({}, 8000, true);
  EXPECT_TRUE(chunk.words.empty());
  EXPECT_TRUE(chunk.phonemes.empty());
}

TEST_F(SpeechPlanTest, AnUnknownSymbolIsNamedWithItsByte) {
  const auto error = [&](const std::string& phonemes) {
    const absl::Status status = CheckSpeech(Say(phonemes, true), info_, reader_);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(
      error("AB ɪC"),
      "phonemes: the voice does not know the symbol 'ɪ' (U+026a) at byte 3; it knows: A B C D "
      "E F . , !");
  EXPECT_THAT(error("ABCx"), HasSubstr("'x' (U+0078) at byte 3"));
  EXPECT_THAT(error("xABC"), HasSubstr("'x' (U+0078) at byte 0"));
  EXPECT_THAT(error("A\tB"), HasSubstr("(U+0009) at byte 1"));
  EXPECT_EQ(error("., "), "phonemes: there is nothing to speak; it needs a letter or a digit");
  EXPECT_TRUE(CheckSpeech(Say("AB.\r\nC", true), info_, reader_).ok());
  EXPECT_TRUE(CheckSpeech(Say("ɪ"), info_, reader_).ok());
}

TEST_F(SpeechPlanTest, ALanguageIsOneOfTheModels) {
  models::SynthesizeInput input = Say("Abc.");
  for (const char* language : {"", "en", "ja"}) {
    input.language = language;
    EXPECT_TRUE(CheckSpeech(input, info_, reader_).ok()) << language;
  }
  input.language = "fr";
  EXPECT_EQ(CheckSpeech(input, info_, reader_).message(),
            "language: model 'letters' does not speak 'fr'; it speaks: en, ja");
}

}  // namespace
}  // namespace millrace::speech
