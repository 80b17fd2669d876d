#include "models/text/english/espeak_fallback.h"

#include <gtest/gtest.h>

namespace millrace::models {
namespace {

using enum EnglishDialect;

TEST(MisakiFromEspeakTest, DiphthongsAndAffricatesAreOneSymbol) {
  EXPECT_EQ(MisakiFromEspeak("tʃˈeɪndʒ", kUs), "ʧˈAnʤ");
  EXPECT_EQ(MisakiFromEspeak("ɡˈoʊ bˈɔɪ", kUs), "ɡˈObˈY");
  EXPECT_EQ(MisakiFromEspeak("ɡˈəʊ", kGb), "ɡˈQ");
  EXPECT_EQ(MisakiFromEspeak("nˈaʊ mˈaɪ", kUs), "nˈWmˈI");
}

TEST(MisakiFromEspeakTest, DialectsDifferInLengthAndR) {
  EXPECT_EQ(MisakiFromEspeak("bˈɜːd", kUs), "bˈɜɹd");
  EXPECT_EQ(MisakiFromEspeak("bˈɜːd", kGb), "bˈɜːd");
  EXPECT_EQ(MisakiFromEspeak("wˈɔːɾɚ", kUs), "wˈɔTəɹ");
  EXPECT_EQ(MisakiFromEspeak("ðˈeə", kGb), "ðˈɛː");
}

TEST(MisakiFromEspeakTest, SyllabicConsonantsGetTheirShortVowel) {
  EXPECT_EQ(MisakiFromEspeak("lˈɪɾəl", kUs), "lˈɪTᵊl");
  EXPECT_EQ(MisakiFromEspeak("bˈʌʔn\u0329", kUs), "bˈʌtn");
  EXPECT_EQ(MisakiFromEspeak("ɹˈɛlətˌɪv", kUs), "ɹˈɛlətˌɪv");
  EXPECT_EQ(MisakiFromEspeak("bəlˈaʊ", kUs), "bᵊlˈW");
}

TEST(MisakiFromEspeakTest, ForeignSoundsAndRemarksAreReplacedOrLeftOut) {
  EXPECT_EQ(MisakiFromEspeak("(de)bˈax(en)\n", kUs), "bˈæk");
  EXPECT_EQ(MisakiFromEspeak("ʘ", kUs), "");
  EXPECT_EQ(MisakiFromEspeak("(never closed", kUs), "");
}

#ifdef MILLRACE_HAS_ESPEAK
TEST(EspeakFallbackTest, SpeaksUnknownWordsInOneCall) {
  EspeakFallback::Options options;
  options.espeak.timeout = std::chrono::seconds(30);
  const auto fallback = EspeakFallback::Create(options);
  ASSERT_TRUE(fallback.ok()) << fallback.status();
  const std::vector<std::string> words = {"blockchain", "toothbrush", "zorp"};
  const auto phonemes = (*fallback)->Phonemize(words);
  ASSERT_TRUE(phonemes.ok()) << phonemes.status();
  EXPECT_EQ(*phonemes, (std::vector<std::string>{"blˈɑkʧAn", "tˈuθbɹʌʃ", "zˈɔɹp"}));
}

TEST(EspeakFallbackTest, WordsOfAnyLettersGetAnAnswerEach) {
  const auto fallback = EspeakFallback::Create({});
  ASSERT_TRUE(fallback.ok()) << fallback.status();
  const std::vector<std::string> words = {"日本", "é", std::string(64, 'x'), "don't", "", "Ωμέγα"};
  const auto phonemes = (*fallback)->Phonemize(words);
  ASSERT_TRUE(phonemes.ok()) << phonemes.status();
  EXPECT_EQ(phonemes->size(), words.size());
}
#endif

TEST(EspeakFallbackTest, AMissingProgramIsNamed) {
  EspeakFallback::Options options;
  options.espeak.program = "no-such-espeak";
  const auto fallback = EspeakFallback::Create(options);
  EXPECT_EQ(fallback.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(fallback.status().message().find("no-such-espeak"), std::string::npos);
}

}  // namespace
}  // namespace millrace::models
