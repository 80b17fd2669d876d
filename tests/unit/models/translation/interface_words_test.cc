#include "models/translation/interface_words.h"

#include <gtest/gtest.h>

namespace millrace::translation {
namespace {

TEST(InterfaceWordsTest, ATextOfAnInterfaceHasItsTranslation) {
  EXPECT_EQ(InterfaceWords("Dismiss", "en", "pt"), "Dispensar");
  EXPECT_EQ(InterfaceWords("Select All", "en-US", "pt_BR"), "Selecionar tudo");
  EXPECT_EQ(InterfaceWords("Caixa de entrada", "pt", "en"), "Inbox");
  EXPECT_EQ(InterfaceWords("Tchau", "pt-BR", "EN"), "bye");
}

TEST(InterfaceWordsTest, TheMarksAtTheEndOfATextAreNoneOfItsWords) {
  EXPECT_EQ(WithoutEndMarks("Dismiss!"), "Dismiss");
  EXPECT_EQ(WithoutEndMarks("Is it? No..."), "Is it? No");
  EXPECT_EQ(WithoutEndMarks("..."), "");
  EXPECT_EQ(WithoutEndMarks(""), "");
}

TEST(InterfaceWordsTest, WordsOfOtherTextsAndLanguagesAreNotKnown) {
  EXPECT_EQ(InterfaceWords("like", "en", "pt"), "");  // without a capital it is a word of prose
  EXPECT_EQ(InterfaceWords("bye", "en", "pt"), "tchau");
  EXPECT_EQ(InterfaceWords("Dismiss them", "en", "pt"), "");
  EXPECT_EQ(InterfaceWords("Dismiss", "en", "fr"), "");
  EXPECT_EQ(InterfaceWords("Dismiss", "", ""), "");
  EXPECT_EQ(InterfaceWords("", "en", "pt"), "");
}

}  // namespace
}  // namespace millrace::translation
