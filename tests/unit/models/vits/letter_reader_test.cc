#include "models/vits/letter_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::vits {
namespace {

// A voice of these code points, numbered from 3 in the order in which they stand.
VoiceConfig VoiceOf(const std::vector<std::string>& symbols) {
  VoiceConfig voice;
  voice.reads_letters = true;
  voice.start_ids = {1};
  voice.pad_ids = {0};
  voice.end_ids = {2};
  int64_t id = 3;
  for (const std::string& symbol : symbols) {
    voice.phoneme_ids[symbol] = {id++};
    voice.longest_phoneme = std::max(voice.longest_phoneme, symbol.size());
  }
  return voice;
}

std::string Read(const VoiceConfig& voice, std::string_view text) {
  const auto read = LetterReader(voice).ToPhonemes(text, "", false);
  return read.ok() ? read->phonemes : read.status().ToString();
}

TEST(LetterReaderTest, LettersAreDecomposedAndFolded) {
  const VoiceConfig voice = VoiceOf(
      {"\u0432", "\u0435", "\u0441", "\u043b", "\u043a", "\u0430", "\u0301", "s", " ", "."});
  EXPECT_EQ(Read(voice, "\u0412\u0415\u0421\u0415\u0301\u041b\u041a\u0410."),
            "\u0432\u0435\u0441\u0435\u0301\u043b\u043a\u0430.");
  // A letter that is written by one code point, a small letter that folds to two, and what lies
  // between words.
  EXPECT_EQ(Read(voice, "  \u00c1,  \u00df\n"), "  a\u0301,  ss\n");
  EXPECT_EQ(LetterReader(voice).ToIds("\u0435\u0301s").ids,
            (std::vector<int64_t>{1, 0, 4, 0, 9, 0, 10, 0, 2}));
}

TEST(LetterReaderTest, AVoiceThatKnowsCapitalsKeepsThem) {
  EXPECT_EQ(Read(VoiceOf({"a", "A", "b", "B"}), "aAbB"), "aAbB");
  // The symbols of IPA have a capital letter that no text is meant with.
  EXPECT_EQ(Read(VoiceOf({"a", "b", "x", "X", "\u0259"}), "aAX"), "aax");
}

TEST(LetterReaderTest, WordsHaveTheirLetters) {
  const VoiceConfig voice = VoiceOf({"a", "e", "\u0301", "s"});
  const auto read = LetterReader(voice).ToPhonemes("(\u00c9a), 77 \u00df!", "", true);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->phonemes, "(e\u0301a), 77 ss!");
  // Nothing is spoken for the number, which the voice does not know.
  EXPECT_EQ(read->words, (std::vector<models::PhonemeWord>{{1, 4, 1, 5}, {10, 12, 11, 13}}));
}

TEST(LetterReaderTest, AVoiceOfAnyScriptCanSpeakASpelledText) {
  const VoiceConfig voice = VoiceOf({"\u0436", "\u044f", "\u0301", ".", "_", "1"});
  const std::string spelled = SpelledBy(voice, "Two of us.");
  EXPECT_EQ(spelled, "\u0436\u044f\u0436 \u044f\u0436 \u044f\u0436.");
  EXPECT_EQ(Read(voice, spelled), spelled);
  EXPECT_EQ(SpelledBy(VoiceOf({"."}), "Two."), "Two.");
}

TEST(LetterReaderTest, WhatTheVoiceCannotSpeakIsNothing) {
  const VoiceConfig voice = VoiceOf({"a", ".", "1"});
  for (const char* text : {"", "...", "xyz", "\u6771.", "\xff\xfe"})
    EXPECT_EQ(Read(voice, text), "");
  EXPECT_EQ(Read(voice, "1."), "1.");
}

}  // namespace
}  // namespace millrace::vits
