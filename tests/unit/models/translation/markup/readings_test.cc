#include "models/translation/markup/readings.h"

#include <gtest/gtest.h>

#include "models/translation/markup/word_lists.h"

namespace millrace::translation {
namespace {

TEST(InterfacePhraseTest, ATextOfAnInterfaceHasItsTranslation) {
  EXPECT_EQ(InterfacePhrase({.text = "Dismiss"}, "en", "pt"), "Dispensar");
  EXPECT_EQ(InterfacePhrase({.text = "Select All"}, "en-US", "pt_BR"), "Selecionar tudo");
  EXPECT_EQ(InterfacePhrase({.text = "Caixa de entrada"}, "pt", "en"), "Inbox");
  EXPECT_EQ(InterfacePhrase({.text = "Tchau"}, "pt-BR", "EN"), "bye");
  EXPECT_EQ(InterfacePhrase({.text = "NÃO ENCONTRADO"}, "pt", "en"), "Not found");
}

TEST(InterfacePhraseTest, TheMarksAtTheEndOfATextAreNoneOfItsWords) {
  EXPECT_EQ(WithoutEndMarks("Dismiss!"), "Dismiss");
  EXPECT_EQ(WithoutEndMarks("Is it? No..."), "Is it? No");
  EXPECT_EQ(WithoutEndMarks("..."), "");
  EXPECT_EQ(WithoutEndMarks(""), "");
}

TEST(InterfacePhraseTest, WordsOfOtherTextsAndLanguagesAreNotKnown) {
  EXPECT_EQ(InterfacePhrase({.text = "like"}, "en", "pt"),
            "");  // without a capital it is a word of prose
  EXPECT_EQ(InterfacePhrase({.text = "bye"}, "en", "pt"), "tchau");
  EXPECT_EQ(InterfacePhrase({.text = "Dismiss them"}, "en", "pt"), "");
  EXPECT_EQ(InterfacePhrase({.text = "Dismiss"}, "en", "fr"), "");
  EXPECT_EQ(InterfacePhrase({.text = "Dismiss"}, "", ""), "");
  EXPECT_EQ(InterfacePhrase({.text = ""}, "en", "pt"), "");
}

TEST(WordListsTest, AWordIsWholeAndOfItsLanguage) {
  EXPECT_TRUE(IsListed("numbers en", "twelve"));
  EXPECT_FALSE(IsListed("numbers en", "twel"));
  EXPECT_FALSE(IsListed("numbers pt", "twelve"));
  EXPECT_FALSE(IsListed("numbers en", ""));
  EXPECT_FALSE(HasList("numbers fr"));
  EXPECT_EQ(PrimarySubtag("PT_br"), "pt");
}

TEST(InterfacePhraseTest, NumbersAndKeptSpansOfAPhraseStay) {
  const auto phrase = [](const MarkedText& marked) { return InterfacePhrase(marked, "pt", "en"); };
  EXPECT_EQ(phrase({.text = "Versão 2.0.1"}), "version 2.0.1");
  EXPECT_EQ(phrase({.text = "há 12 dias."}), "12 days ago");
  EXPECT_EQ(phrase({.text = "Oi X1!", .kept = {{3, 5, "{name}"}}}), "hi X1");
  EXPECT_EQ(phrase({.text = "Caixa de entrada"}), "Inbox");
  // The sign itself, a word too many, a mark, and a span that the model reads as other words.
  for (const MarkedText& other :
       {MarkedText{.text = "há @ dias"}, MarkedText{.text = "há 2 ou 3 dias"},
        MarkedText{.text = "há 2 dias", .events = {{4, MarkEvent::Kind::kAlone, "<br>"}}},
        MarkedText{.text = "há 2 min", .kept = {{6, 9, "min", "minutos", false}}},
        MarkedText{.text = ""}})
    EXPECT_EQ(phrase(other), "") << other.text;
}

}  // namespace
}  // namespace millrace::translation
