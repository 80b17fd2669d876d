#include "models/synthesis/espeak_english.h"

#include <gtest/gtest.h>

namespace millrace::models {
namespace {

std::string American(std::string_view ipa) {
  return RewriteEspeakIpa(ipa, EnglishAccent::kAmerican);
}
std::string British(std::string_view ipa) { return RewriteEspeakIpa(ipa, EnglishAccent::kBritish); }

TEST(EspeakEnglish, DiphthongsAndAffricatesBecomeOneLetter) {
  EXPECT_EQ(American("dʒˈʌdʒ tʃˈaɪ ɡɹˈeɪ bˈɔɪ hˈaʊ nˈoʊ"), "ʤˈʌʤ ʧˈI ɡɹˈA bˈY hˈW nˈO");
  EXPECT_EQ(British("nˈəʊ ðˈeə hˈiə"), "nˈQ ðˈɛː hˈɪə");
}

TEST(EspeakEnglish, AmericanHasNoLongVowelsAndAnRAfterThem) {
  EXPECT_EQ(American("bˈɜːd fˈɜːɹst fˈoːɹ sˈiː nˌɪɹ"), "bˈɜɹd fˈɜɹst fˈɔɹ sˈi nˌɪɹ");
  EXPECT_EQ(American("mˈʌðɚ bˈʌɾɚɹ ˌɔn"), "mˈʌðəɹ bˈʌTəɹ ˌɔn");
  EXPECT_EQ(British("bˈɜːd sˈiː"), "bˈɜːd sˈiː");
}

TEST(EspeakEnglish, SyllabicConsonantsGetAReducedVowel) {
  EXPECT_EQ(American("lˈɪɾəl"), "lˈɪTᵊl");
  EXPECT_EQ(American("lˈɪɾəlz"), "lˈɪTᵊlz");
  EXPECT_EQ(American("ɐlˈoʊn kəlˈæps"), "əlˈOn kəlˈæps");
  EXPECT_EQ(American("bˈʌʔn̩"), "bˈʌtn");
  EXPECT_EQ(American("ˈiːvn̩"), "ˈivᵊn");
}

TEST(EspeakEnglish, ForeignSoundsAreReplaced) {
  EXPECT_EQ(American("lˈɑːx ɪc\u0327 bɔ\u0303"), "lˈɑk ɪk bɔ");
}

TEST(EspeakEnglish, WhatItDoesNotKnowStays) {
  EXPECT_EQ(American(", . ! ? ˈˌθð"), ", . ! ? ˈˌθð");
  EXPECT_EQ(American(""), "");
  EXPECT_EQ(American("\xff"), "\xff");
}

TEST(TextToPhonemes, ALanguageWithoutAFrontEndIsRefused) {
  TextToPhonemesOptions options;
  options.language = "ja";
  const auto made = MakeTextToPhonemes(options);
  EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(made.status().message(),
            "language: there is no way from 'ja' to phonemes, allowed en-US, en-GB");
}

}  // namespace
}  // namespace millrace::models
