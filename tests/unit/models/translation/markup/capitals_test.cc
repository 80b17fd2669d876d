#include "models/translation/markup/capitals.h"

#include <gtest/gtest.h>

#include "models/text/unicode.h"
#include "models/translation/markup/source_sentences.h"

namespace millrace::translation {
namespace {

MarkedText ReadCapitals(std::string_view text,
                        models::TextFormat format = models::TextFormat::kText) {
  return ReadSentences(text, format, "en", {}).front().marked;
}

TEST(CapitalsTest, AreThoseOfAWholeSentence) {
  EXPECT_TRUE(IsInCapitals(ReadCapitals("STOP")));
  EXPECT_TRUE(IsInCapitals(ReadCapitals("NÃO ENTRE, 24 HORAS")));
  EXPECT_TRUE(IsInCapitals(ReadCapitals("СТОП ΤΕΛΟΣ")));
  EXPECT_TRUE(IsInCapitals(ReadCapitals("DO <b>NOT</b> ENTER", models::TextFormat::kHtml)));
  EXPECT_FALSE(IsInCapitals(ReadCapitals("Press STOP")));
  EXPECT_FALSE(IsInCapitals(ReadCapitals("I")));
  EXPECT_FALSE(IsInCapitals(ReadCapitals("12:30")));
  EXPECT_FALSE(IsInCapitals(ReadCapitals("日本")));
}

TEST(CapitalsTest, OfWhatIsKeptDoNotCount) {
  const MarkedText marked = ReadCapitals("CALL {name} NOW");
  EXPECT_TRUE(IsInCapitals(marked));
  EXPECT_EQ(InSmallLetters(marked), "call X1 now");
  EXPECT_FALSE(IsInCapitals(ReadCapitals("{name} A")));
}

TEST(CapitalsTest, OfASignOfMoneyStay) {
  EXPECT_EQ(InSmallLetters(ReadCapitals("TUDO POR R$ 9, US$5, R OU €")),
            "tudo por R$ 9, US$5, r ou €");
}

TEST(CapitalsTest, ComeBackAtTheSameBytes) {
  EXPECT_EQ(InSmallLetters(ReadCapitals("É ÖL, ŠTO, ŽE, ŸÑ; ΆΌΎ; ЁЖ, İ")),
            "é öl, što, že, ÿñ; άόύ; ёж, İ");
  EXPECT_EQ(InCapitals("é öl, što, že, ÿñ; άόύς; ёж X1"), "É ÖL, ŠTO, ŽE, ŸÑ; ΆΌΎΣ; ЁЖ X1");
  EXPECT_EQ(InCapitals("straße, ŉ, ſ, ı"), "STRASSE, ŉ, ſ, ı");
  for (char32_t c = 1; c < 0x500; ++c) {
    EXPECT_EQ(InCapitals(models::EncodeUtf8(c)).size(), models::EncodeUtf8(c).size());
    if (!models::IsLower(c) || models::ToUpper(c) == c) continue;
    EXPECT_TRUE(models::IsUpper(models::ToUpper(c))) << static_cast<uint32_t>(c);
    // A variant of a letter, such as ς or µ, comes back as the ordinary one.
    const char32_t back = models::ToLower(models::ToUpper(c));
    EXPECT_EQ(models::ToUpper(back), models::ToUpper(c)) << static_cast<uint32_t>(c);
  }
}

}  // namespace
}  // namespace millrace::translation
