#include "models/speech/speech_units.h"

#include <gtest/gtest.h>

namespace millrace::speech {
namespace {

using Units = std::vector<std::string_view>;

TEST(SpeechUnitsTest, AreSentencesWithoutTheSpaceBetween) {
  EXPECT_EQ(SplitSpeechUnits("  One. Two!\n\nThree"), (Units{"One.", "Two!", "Three"}));
}

TEST(SpeechUnitsTest, ALongSentenceIsCutAtAPause) {
  EXPECT_EQ(SplitSpeechUnits("aaaa bbbb, cccc dddd eeee", 14),
            (Units{"aaaa bbbb,", "cccc dddd eeee"}));
}

TEST(SpeechUnitsTest, ALongSentenceWithoutAPauseIsCutAtAWord) {
  EXPECT_EQ(SplitSpeechUnits("aaaa bbbb cccc dddd", 11), (Units{"aaaa bbbb", "cccc dddd"}));
}

TEST(SpeechUnitsTest, AWordTooLongIsCutBetweenCharacters) {
  const Units units = SplitSpeechUnits("\u00e9\u00e9\u00e9\u00e9\u00e9", 5);
  EXPECT_EQ(units, (Units{"\u00e9\u00e9", "\u00e9\u00e9", "\u00e9"}));
}

TEST(SpeechUnitsTest, TwoThousandWordsKeepTheirOrderAndTheBound) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += (i == 0 ? "w" : " w") + std::to_string(i);
  std::string joined;
  for (const std::string_view unit : SplitSpeechUnits(text)) {
    EXPECT_LE(unit.size(), kMaxSpeechUnitBytes);
    joined.append(joined.empty() ? "" : " ").append(unit);
  }
  EXPECT_EQ(joined, text);
}

TEST(SpeechUnitsTest, PhonemesAreCutAtStopsWithoutRegardForCapitals) {
  EXPECT_EQ(SplitPhonemeUnits(" wˈʌn. tˈu! (θɹˈi?) A…\n\nfˈOɹ"),
            (Units{"wˈʌn.", "tˈu!", "(θɹˈi?)", "A…", "fˈOɹ"}));
  // A stop before anything else is within a word.
  EXPECT_EQ(SplitPhonemeUnits("a.b . c"), (Units{"a.b .", "c"}));
  EXPECT_EQ(SplitPhonemeUnits("\u2028\u2028a"), (Units{"\u2028\u2028a"}));
  EXPECT_EQ(SplitPhonemeUnits("aaaa bbbb, cccc dddd eeee", 14),
            (Units{"aaaa bbbb,", "cccc dddd eeee"}));
}

TEST(SpeechUnitsTest, JapaneseNeedsNoSpaces) {
  EXPECT_EQ(SplitSpeechUnits("こんにちは。げんきですか？はい！"),
            (Units{"こんにちは。", "げんきですか？", "はい！"}));
  EXPECT_EQ(SplitSpeechUnits("あああ、いいいい", 20), (Units{"あああ、", "いいいい"}));
}

TEST(SpeechUnitsTest, ALetterOfAnIndianScriptCountsOnce) {
  EXPECT_EQ(SplitSpeechUnits("कमल कमल, कमल कमल", 10), (Units{"कमल कमल,", "कमल कमल"}));
  EXPECT_EQ(SplitSpeechUnits("कमल कमल", 7), (Units{"कमल कमल"}));
  Units units = {"कमलकमल कमलकमल"};
  EXPECT_TRUE(HalveSpeechUnit(units, 0));
  EXPECT_EQ(units, (Units{"कमलकमल", "कमलकमल"}));
}

TEST(SpeechUnitsTest, HalvesStandInTheUnitsPlace) {
  Units units = {"a", "bbbb cccc", "d"};
  EXPECT_TRUE(HalveSpeechUnit(units, 1));
  EXPECT_EQ(units, (Units{"a", "bbbb", "cccc", "d"}));
  EXPECT_FALSE(HalveSpeechUnit(units, 0));
}

TEST(HasLetterOrDigitTest, KnowsEveryScript) {
  for (const char* text : {"a", "7", "\u00e9", "\u6771", "\u05d0", "... x", "\u0663"})
    EXPECT_TRUE(HasLetterOrDigit(text)) << text;
  for (const char* text : {"", " ", "?!...", "\U0001F600\U0001F44D", "\u2014", "\n"})
    EXPECT_FALSE(HasLetterOrDigit(text)) << text;
}

}  // namespace
}  // namespace millrace::speech
