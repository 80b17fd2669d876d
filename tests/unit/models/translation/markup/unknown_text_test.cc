#include "models/translation/markup/unknown_text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "models/text/unicode.h"
#include "models/translation/markup/restore.h"
#include "models/translation/markup/source_sentences.h"
#include "tests/fakes/linear_time.h"

namespace millrace::translation {
namespace {

// Says what Bergamot's model of English and Portuguese knows.
CharacterFit FitOf(char32_t c) {
  constexpr std::u32string_view kKnown = U" !\"$%&'()*+,-./:;=>?[]_|°ÁÉàáâãçêéíóôõú";
  constexpr std::u32string_view kRespelled = U"¹²³…ﬁＡ№™º\u00A0\u200D";
  if (models::IsWordCharacter(c) && c < 0x80) return CharacterFit::kKnown;
  if (kKnown.find(c) != std::u32string_view::npos) return CharacterFit::kKnown;
  if (kRespelled.find(c) != std::u32string_view::npos) return CharacterFit::kRespelled;
  return CharacterFit::kUnknown;
}

std::vector<SourceSentence> ReadUnknown(std::string_view text,
                                        models::TextFormat format = models::TextFormat::kText,
                                        std::string_view language = "en") {
  return ReadSentences(text, format, language, {}, FitOf);
}

// Returns the text of a sentence that a model reads.
std::string TextOf(std::string_view text, std::string_view language = "en") {
  return ReadUnknown(text, models::TextFormat::kText, language).front().marked.text;
}

// Returns the text that a model makes of it that changes nothing.
std::string EchoedUnknown(std::string_view text,
                          models::TextFormat format = models::TextFormat::kText) {
  std::string all;
  for (const SourceSentence& sentence : ReadUnknown(text, format))
    all += Restore(sentence.marked, sentence.marked.text, {}) + sentence.behind;
  return all;
}

struct UnknownCase {
  const char* text;
  const char* read;
};

class UnknownTest : public ::testing::TestWithParam<UnknownCase> {};

TEST_P(UnknownTest, IsReadSoThatAModelKnowsIt) {
  const std::string read = TextOf(GetParam().text);
  EXPECT_EQ(read, GetParam().read);
  for (size_t at = 0; at < read.size(); at += models::DecodeAt(read, at).bytes) {
    const char32_t c = models::DecodeAt(read, at).value;
    EXPECT_TRUE(models::IsSpace(c) || FitOf(c) == CharacterFit::kKnown) << read;
  }
}
TEST_P(UnknownTest, ComesOutAgain) { EXPECT_EQ(EchoedUnknown(GetParam().text), GetParam().text); }

INSTANTIATE_TEST_SUITE_P(Sums, UnknownTest,
                         ::testing::Values(UnknownCase{"Pay £20 or ¥500.", "Pay X1 or X2."},
                                           UnknownCase{"Pay 1.000,50 € now.", "Pay X1 now."},
                                           UnknownCase{"Pay 20€, €5k or € 7.", "Pay X1, X2 or X3."},
                                           UnknownCase{"The € rose.", "The X1 rose."},
                                           UnknownCase{"The note¹ on km².", "The note on X1."},
                                           UnknownCase{"The car¹ of 5 mm².", "The car of 5 X1."},
                                           UnknownCase{"Pay £20–£30 or €5-€6.", "Pay X1 or X2-X3."},
                                           UnknownCase{"Pay $5–$10.", "Pay X1."},
                                           UnknownCase{"Pay $5, US$ 10 or R$ 5.",
                                                       "Pay $5, US$ 10 or R$ 5."},
                                           UnknownCase{"Save $$$ today.", "Save X1 today."},
                                           UnknownCase{"A\u00A0₹1,00,000 car", "A X1 car"}));

INSTANTIATE_TEST_SUITE_P(
    Words, UnknownTest,
    ::testing::Values(UnknownCase{"Learn C# and F#.", "Learn X1 and X2."},
                      UnknownCase{"Mr Müller's car is in Łódź.", "Mr X1's car is in X2."},
                      UnknownCase{"Köln-based", "X1-based"},
                      UnknownCase{"Talk to 田中さん.", "Talk to X1."},
                      UnknownCase{"ReadUnknown Лев Толстой today.", "ReadUnknown X1 today."},
                      UnknownCase{"See Лев, Толстой", "See X1, X2"},
                      UnknownCase{"An n\u0303u", "An X1"},
                      UnknownCase{"Ângela saw São Paulo.", "X1 saw São Paulo."}));

INSTANTIATE_TEST_SUITE_P(
    Signs, UnknownTest,
    ::testing::Values(UnknownCase{"If x < y then stop.", "If x X1 y then stop."},
                      UnknownCase{"If x<y stop.", "If X1 stop."},
                      UnknownCase{"Home → the page with all of the settings",
                                  "Home X1 the page with all of the settings"},
                      UnknownCase{"© 2024 Acme™", "X1 2024 X2"},
                      UnknownCase{"Take 1½ cups or 10 m².", "Take X1 cups or 10 X2."},
                      UnknownCase{"About ~5 or ±3.5 km", "About X1 or X2 km"},
                      UnknownCase{"It is 5′10″ high", "It is X1 high"},
                      UnknownCase{"In 2019–2020, 3×4", "In X1, X2"},
                      UnknownCase{"№ 5 of a^2", "X1 5 of X2"}));

INSTANTIATE_TEST_SUITE_P(
    Punctuation, UnknownTest,
    ::testing::Values(UnknownCase{"He said “yes” and «no, no».", "He said \"yes\" and \"no, no\"."},
                      UnknownCase{"He said ‘yes’ twice.", "He said \"yes\" twice."},
                      UnknownCase{"He came — late—home – now.", "He came - late - home - now."},
                      UnknownCase{"Wait… what?", "Wait... what?"},
                      UnknownCase{"— Yes, he said.", "Yes, he said."},
                      UnknownCase{"—&#x20;Yes, he said.", "Yes, he said."}));

TEST(UnknownTextTest, WhatBelongsToAWordNeedNotComeBack) {
  EXPECT_EQ(TextOf("Don’t stop, it’s the boys’ car."), "Don't stop, it's the boys' car.");
  EXPECT_EQ(TextOf("A well‑known soft\u00ADware, a\u200Db."), "A well-known software, ab.");
  const auto sentences = ReadUnknown("Don’t stop.");
  EXPECT_EQ(TextOf("A cafe\u0301."), "A cafe\u0301.");
  EXPECT_TRUE(sentences.front().is_plain);
  EXPECT_TRUE(sentences.front().marked.kept.empty());
  EXPECT_EQ(Untouched(ReadUnknown("— it’s —").front().marked), "— it's —");
}

TEST(UnknownTextTest, CapitalsOfKnownLettersAreLeftToTheModel) {
  EXPECT_EQ(TextOf("Última hora: NÃO vá à Índia.", "pt"), "Última hora: NÃO vá à Índia.");
  EXPECT_EQ(TextOf("Índia", "en-GB"), "X1");
  EXPECT_EQ(TextOf("Östlich", "pt"), "X1");
}

TEST(UnknownTextTest, IsFoundWithinMarks) {
  for (const char* text : {"<p>A <b>Müller</b> pays &pound;20 &ndash; &ldquo;now&rdquo;.</p>",
                           "<i>M<b>ü</b>ller</i> is here.", "Costs <b>£</b>20 or 20<sup>€</sup>.",
                           "a &lt; b &lt;now&gt; c", "<b>He said “yes</b>” – and left…"}) {
    EXPECT_EQ(EchoedUnknown(text, models::TextFormat::kHtml), text);
  }
  EXPECT_EQ(ReadUnknown("a &lt; b &lt;now&gt; c", models::TextFormat::kHtml).front().marked.text,
            "a X1 b X2 c");
  EXPECT_EQ(
      ReadUnknown("**C#** and `C#` – [Łódź](x)", models::TextFormat::kMarkdown).front().marked.text,
      "X1 and X2 - X3");
}

TEST(UnknownTextTest, WhatIsProtectedStaysWhole) {
  EXPECT_EQ(TextOf("Mail a@müller.com, {größe}, `ü` #Köln 🎉"), "Mail X1, X2, X3 X4");
}

TEST(UnknownTextTest, ASumGetsTheSeparatorsOfTheTargetLanguage) {
  const auto becomes = [](std::string_view text, std::string_view from, std::string_view to) {
    const auto read = ReadSentences(text, models::TextFormat::kText, from, {}, FitOf, to);
    return Untouched(read.front().marked);
  };
  EXPECT_EQ(becomes("Pay €250,000 or £1.2bn.", "en", "pt"), "Pay €250.000 or £1,2bn.");
  EXPECT_EQ(becomes("Paga € 1.234,56 ou 20 €.", "pt", "en"), "Paga € 1,234.56 ou 20 €.");
  EXPECT_EQ(becomes("€250,000", "en", "pt"), "€250.000");
  EXPECT_EQ(becomes("Pay €250,000.", "en", ""), "Pay €250,000.");
}

TEST(UnknownTextTest, TakesLinearTime) {
  for (const char* piece : {"e\u0301\u0301\u0301", "ü", "£1", "“", "—", "1.1.", "<a ", "ü ", "’",
                            "1–", "\u00AD", "$ "}) {
    ExpectLinearTime(piece, 100'000, [](const std::string& text) {
      MarkedText marked;
      marked.text = text;
      KeepUnknownText(marked, {FitOf, true});
    });
  }
}

}  // namespace
}  // namespace millrace::translation
