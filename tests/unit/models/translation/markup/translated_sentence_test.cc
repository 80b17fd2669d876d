// Sentences that go through two models, their marks aside.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "models/text/term_index.h"
#include "models/translation/markup/source_sentences.h"
#include "tests/unit/models/translation/markup/hand_translation.h"

namespace millrace::translation {
namespace {

// Returns the first sentence as the first model translates it.
TranslatedSentence First(const SourceSentence& sentence, std::string_view by_hand) {
  const Translation english = ByHand(sentence.marked, by_hand);
  return {RestoreMarks(sentence.marked, english.text, english.pieces), sentence.behind};
}

SourceSentence ReadSentence(std::string_view text,
                            models::TextFormat format = models::TextFormat::kHtml,
                            const models::TermIndex& terms = {}, Alphabet alphabet = KnowsAll) {
  return ReadSentences(text, format, "pt", terms, alphabet).front();
}

// Returns the second model's translation of the first one's, if it reads that as one sentence.
std::string Second(const TranslatedSentence& english, std::string_view by_hand) {
  const std::vector<SourceSentence> sentences = ReadSentences(english, "en", {});
  EXPECT_EQ(sentences.size(), 1U);
  return Restored(sentences.front().marked, by_hand) + sentences.front().behind;
}

TEST(TranslatedSentenceTest, ATagFollowsItsWordsTwice) {
  const TranslatedSentence english =
      First(ReadSentence("O <b>gato</b> preto dorme</p>\n"), "The/0 black/2 cat/1 sleeps/3");
  EXPECT_EQ(english.marked.text, "The black cat sleeps");
  EXPECT_EQ(Second(english, "Es/3 schläft/3 die/0 schwarze/1 Katze/2"),
            "Es schläft die schwarze <b>Katze</b></p>\n");
}

TEST(TranslatedSentenceTest, TagsStayNested) {
  const TranslatedSentence english =
      First(ReadSentence("<i>A <a href='x'>casa</a> branca</i> é<img> aqui"),
            "The/0 white/2 house/1 is/3 here/4");
  EXPECT_EQ(Second(english, "Hier/4 ist/3 das/0 weiße/1 Haus/2"),
            "Hier ist <i>das weiße <a href='x'>Haus</a></i><img>");
}

TEST(TranslatedSentenceTest, ATagThatGoesOnInTheNextSentenceStaysOpen) {
  const std::vector<SourceSentence> sentences =
      ReadSentences("Diz <b>olá. Adeus</b> agora.", models::TextFormat::kHtml, "pt", {});
  ASSERT_EQ(sentences.size(), 2U);
  EXPECT_EQ(Second(First(sentences[0], "Say/0 hello./1"), "Sag/0 hallo./1"), "Sag <b>hallo. ");
  EXPECT_EQ(Second(First(sentences[1], "Goodbye/0 now./1"), "Jetzt/1 tschüss./0"),
            "Jetzt tschüss</b>.");
}

TEST(TranslatedSentenceTest, WhatIsKeptHasAStandInForTheSecondModelToo) {
  const TranslatedSentence english = First(ReadSentence("Usa <code>a &lt; b</code> e {name} agora"),
                                           "Use/0 X1/1 and/2 X2/3 now/4");
  const SourceSentence read = ReadSentences(english, "en", {}).front();
  EXPECT_EQ(read.marked.text, "Use X1 and X2 now");
  EXPECT_EQ(Restored(read.marked, "Nun/4 X2/3 und/2 X1/1 nutzen/0"),
            "Nun {name} und <code>a &lt; b</code> nutzen");
}

TEST(TranslatedSentenceTest, SumsThatAreKeptGetTheSeparatorsOfTheLastLanguage) {
  const auto in_ascii = [](char32_t c) {
    return c < 0x80 ? CharacterFit::kKnown : CharacterFit::kUnknown;
  };
  const SourceSentence source =
      ReadSentences("Custa €1.234,56 ou `£9.99`.", models::TextFormat::kMarkdown, "pt", {},
                    in_ascii, "en")
          .front();
  const TranslatedSentence english = First(source, "Costs/0 X1/1 or/2 X2./3");
  EXPECT_EQ(english.marked.kept[0].becomes, "€1,234.56");
  const SourceSentence read = ReadSentences(english, "en", {}, in_ascii, "de").front();
  EXPECT_EQ(Restored(read.marked, "Kostet/0 X1/1 oder/2 X2./3"), "Kostet €1.234,56 oder `£9.99`.");
}

TEST(TranslatedSentenceTest, WhatTheFirstModelLosesIsNotLost) {
  const TranslatedSentence english = First(ReadSentence("Usa {name} agora"), "Use/0 now/2");
  EXPECT_EQ(Second(english, "Nutze/0 jetzt/2"), "Nutze {name} jetzt");
}

TEST(TranslatedSentenceTest, ATermOfTheGlossaryIsPutBackOnce) {
  models::TermIndex terms;
  terms.Add("rio", "Fluss");
  terms.Build();
  const TranslatedSentence english = First(
      ReadSentence("O <b>rio</b> corre", models::TextFormat::kHtml, terms), "The/0 X1/1 runs/2");
  EXPECT_EQ(Second(english, "Der/0 X1/1 läuft/2"), "Der <b>Fluss</b> läuft");
}

TEST(TranslatedSentenceTest, CharactersAreWrittenAsTheSourceWroteThem) {
  const TranslatedSentence english =
      First(ReadSentence("caf&eacute; &amp; ch&aacute; < 5"), "café/0 &/1 tea/2 </3 5/4");
  EXPECT_EQ(english.marked.text, "café & tea < 5");
  EXPECT_EQ(Second(english, "Café/0 &/1 Tee/2 </3 5/4 é/0"), "Caf&eacute; &amp; Tee < 5 é");
}

TEST(TranslatedSentenceTest, SignsThatTheFirstModelLacksAreThereForTheSecond) {
  const auto ascii = [](char32_t c) {
    return c < 0x80 ? CharacterFit::kKnown : CharacterFit::kUnknown;
  };
  const SourceSentence quoted =
      ReadSentence("&ldquo;Tudo bem”, disse ela…", models::TextFormat::kHtml, {}, ascii);
  EXPECT_EQ(quoted.marked.text, "\"Tudo bem\", disse ela...");
  const TranslatedSentence english = First(quoted, "\"All/0 well\",/1 said/2 she.../3");
  EXPECT_EQ(english.marked.text, "“All well”, said she…");
  EXPECT_EQ(Second(english, "“Alles/0 gut”,/1 sagte/2 sie…/3"), "&ldquo;Alles gut”, sagte sie…");
}

TEST(TranslatedSentenceTest, MarkupBeforeTheFirstSentenceStaysThere) {
  const SourceSentence page = ReadSentence("<html><body class=x><p>Olá</p>");
  ASSERT_EQ(page.marked.text, "");
  const std::vector<SourceSentence> read =
      ReadSentences(TranslatedSentence(page.marked, page.behind), "en", {});
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].marked.text, "");
  EXPECT_EQ(Untouched(read[0].marked) + read[0].behind, "<html><body class=x><p>");
}

TEST(TranslatedSentenceTest, OneThatBecameTwoIsReadAsTwo) {
  const TranslatedSentence english = First(ReadSentence("O <b>gato</b> dorme e nós saímos.</p>"),
                                           "The/0 cat/1 sleeps./2 We/4 leave./5");
  const std::vector<SourceSentence> read = ReadSentences(english, "en", {});
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(Untouched(read[0].marked) + read[0].behind, "The <b>cat</b> sleeps. ");
  EXPECT_EQ(Untouched(read[1].marked) + read[1].behind, "We leave.</p>");
}

}  // namespace
}  // namespace millrace::translation
