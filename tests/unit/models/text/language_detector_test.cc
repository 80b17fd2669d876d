#include "models/text/language_detector.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/fakes/needed.h"

namespace millrace::models {
namespace {

class LanguageDetectorTest : public ::testing::Test {
 protected:
  void SetUp() override { MILLRACE_NEEDS(CanDetectLanguages(), "built without a detector"); }
  static DetectedLanguage Best(const std::string& text) {
    const auto found = DetectLanguages(text);
    return found.empty() ? DetectedLanguage{} : found.front();
  }
};

TEST_F(LanguageDetectorTest, SentencesAreToldWithConfidence) {
  const DetectedLanguage english = Best("Where is the nearest station?");
  EXPECT_EQ(english.language, "en");
  EXPECT_GT(english.confidence, 0.8F);
  EXPECT_EQ(Best("Onde fica a esta\xC3\xA7\xC3\xA3o mais pr\xC3\xB3xima?").language, "pt");
  EXPECT_EQ(Best("Guten Morgen, wie geht es Ihnen heute?").language, "de");
}

TEST_F(LanguageDetectorTest, OldCodesAreThoseOfToday) {
  EXPECT_EQ(Best("\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D \xD7\x9C\xD7\x9B\xD7\x9D").language, "he");
}

TEST_F(LanguageDetectorTest, AWordAloneIsLessSure) {
  const DetectedLanguage word = Best("merci");
  EXPECT_EQ(word.language, "fr");
  EXPECT_GT(word.confidence, 0.0F);
  EXPECT_LE(word.confidence, 0.5F);
}

TEST_F(LanguageDetectorTest, MixedTextHasSeveral) {
  const auto found = DetectLanguages(
      "The children were playing in the garden behind the house all afternoon. "
      "Les enfants jouaient dans le jardin derri\xC3\xA8re la maison tout l'apr\xC3\xA8s-midi.");
  ASSERT_GE(found.size(), 2u);
  EXPECT_GE(found[0].confidence, found[1].confidence);
  EXPECT_LT(found[0].confidence, 0.8F);
}

TEST_F(LanguageDetectorTest, WithoutWordsItCannotBeTold) {
  for (const char* text : {"", "   ", "123 456", "\xF0\x9F\x98\x80", "?!"})
    EXPECT_TRUE(DetectLanguages(text).empty()) << text;
}

TEST_F(LanguageDetectorTest, TagsOfHtmlAreNoWords) {
  const std::string html =
      "<div class='the important button of this page and that'><p title='what is this and where "
      "are they'>merci beaucoup</p><section id='all about the house in the "
      "garden'></section></div>";
  EXPECT_EQ(Best(html).language, "en");
  ASSERT_FALSE(DetectLanguages(html, true).empty());
  EXPECT_EQ(DetectLanguages(html, true).front().language, "fr");
}

TEST_F(LanguageDetectorTest, LongTextIsToldByItsBeginning) {
  std::string text;
  while (text.size() < 40'000) text += "The children were playing in the garden behind the house. ";
  while (text.size() < (1 << 20)) text += "\xC3\xA9t\xC3\xA9 comme hiver, la maison est belle. ";
  const auto found = DetectLanguages(text);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().language, "en");
}

}  // namespace
}  // namespace millrace::models
