#include "models/text/english/phonetics.h"

#include <gtest/gtest.h>

namespace millrace::models {
namespace {

using enum EnglishDialect;

TEST(PhoneticsTest, PluralIsVoicedByTheLastSound) {
  EXPECT_EQ(WithS("kˈæt", kUs), "kˈæts");
  EXPECT_EQ(WithS("dˈɔɡ", kUs), "dˈɔɡz");
  EXPECT_EQ(WithS("bˈʌs", kUs), "bˈʌsᵻz");
  EXPECT_EQ(WithS("bˈʌs", kGb), "bˈʌsɪz");
  EXPECT_EQ(WithS("ʧˈɜɹʧ", kUs), "ʧˈɜɹʧᵻz");
  EXPECT_EQ(WithS("", kUs), "");
}

TEST(PhoneticsTest, PastIsVoicedByTheLastSound) {
  EXPECT_EQ(WithEd("ʤˈʌmp", kUs), "ʤˈʌmpt");
  EXPECT_EQ(WithEd("plˈA", kUs), "plˈAd");
  EXPECT_EQ(WithEd("nˈid", kUs), "nˈidᵻd");
  EXPECT_EQ(WithEd("wˈɑnt", kUs), "wˈɑntᵻd");
  EXPECT_EQ(WithEd("wˈAt", kUs), "wˈATᵻd");
  EXPECT_EQ(WithEd("wˈAt", kGb), "wˈAtɪd");
}

TEST(PhoneticsTest, IngTapsAndLinks) {
  EXPECT_EQ(WithIng("mˈAk", kUs, false), "mˈAkɪŋ");
  EXPECT_EQ(WithIng("sˈɪt", kUs, false), "sˈɪTɪŋ");
  EXPECT_EQ(WithIng("sˈɪt", kGb, false), "sˈɪtɪŋ");
  EXPECT_EQ(WithIng("stˈɑː", kGb, true), "stˈɑːɹɪŋ");
  EXPECT_EQ(WithIng("sˈiː", kGb, false), "sˈiːɪŋ");
}

TEST(PhoneticsTest, StressIsAddedAndTaken) {
  EXPECT_EQ(DemoteStress("ˌɛksplənˈAʃən"), "ɛksplənˌAʃən");
  EXPECT_EQ(DemoteStress("wɪl"), "wɪl");
  EXPECT_EQ(DemoteStress("nˌɑt"), "nˌɑt");
  EXPECT_EQ(EnsureSecondaryStress("bʌt"), "bˌʌt");
  EXPECT_EQ(EnsureSecondaryStress("bˈʌt"), "bˈʌt");
  EXPECT_EQ(EnsureSecondaryStress("s"), "s");
  EXPECT_EQ(EnsurePrimaryStress("nˌɑt"), "nˈɑt");
  EXPECT_EQ(EnsurePrimaryStress("ænd"), "ˈænd");
}

}  // namespace
}  // namespace millrace::models
