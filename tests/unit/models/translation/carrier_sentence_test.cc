#include "models/translation/carrier_sentence.h"

#include <gtest/gtest.h>

namespace millrace::translation {
namespace {

TEST(CarrierSentenceTest, IsMadeOfOneWordOfLetters) {
  EXPECT_EQ(CarrierSentence("comma", "en"), "The comma is here.");
  EXPECT_EQ(CarrierSentence("fiancée", "en-US"), "The fiancée is here.");
  EXPECT_EQ(CarrierSentence("Inbox", "en"), "The Inbox is here.");
  EXPECT_EQ(CarrierSentence("guarda-chuva", "pt_BR"), "O guarda-chuva está aqui.");
  for (const char* text :
       {"", "ox", "two words", "USB", "iPhone", "comma.", "-comma", "b12", "x_y"})
    EXPECT_EQ(CarrierSentence(text, "en"), std::nullopt) << text;
  EXPECT_EQ(CarrierSentence("comma", "fi"), std::nullopt);
  EXPECT_EQ(CarrierSentence("comma", ""), std::nullopt);
}

TEST(CarrierSentenceTest, ACopyOrAnArticleIsUncertain) {
  EXPECT_TRUE(IsUncertainWord("comma", "comma", "pt"));
  EXPECT_TRUE(IsUncertainWord("Ícone", "ícone", ""));
  EXPECT_TRUE(IsUncertainWord("beco", "the circus", "en"));
  EXPECT_TRUE(IsUncertainWord("Firefox", "O Firefox", "pt-BR"));
  EXPECT_FALSE(IsUncertainWord("window", "janela", "pt"));
  EXPECT_FALSE(IsUncertainWord("window", "oficina", "pt"));
  EXPECT_FALSE(IsUncertainWord("eles", "they", "en"));
}

TEST(CarrierSentenceTest, TheWordIsTakenOutOfIt) {
  EXPECT_EQ(CarriedWord("comma", "A vírgula está aqui.", "pt"), "vírgula");
  EXPECT_EQ(CarriedWord("inbox", "A caixa de entrada está aqui.", "pt"), "caixa de entrada");
  EXPECT_EQ(CarriedWord("bellows", "Os foles estão aqui.", "pt"), "foles");
  EXPECT_EQ(CarriedWord("Brasil", "Brazil is here.", "en"), "Brazil");
  EXPECT_EQ(CarriedWord("echo", "L'écho est ici.", "fr"), "écho");
}

TEST(CarrierSentenceTest, WhatIsNoCarrierOrAPieceGivesNothing) {
  EXPECT_EQ(CarriedWord("salvar", "Save it over there.", "en"), "");
  EXPECT_EQ(CarriedWord("jabuti", "The jabut is here.", "en"), "");
  EXPECT_EQ(CarriedWord("lint", "O que se faz por aqui agora está aqui.", "pt"), "");
  EXPECT_EQ(CarriedWord("comma", "Pilkku on täällä.", "fi"), "");
  EXPECT_EQ(CarriedWord("comma", " está aqui.", "pt"), "");
  EXPECT_EQ(CarriedWord("wasp", "A \"s está aqui.", "pt"), "");
  EXPECT_EQ(CarriedWord("Forward", "O forward está aqui.", "pt"), "");
}

TEST(CarrierSentenceTest, AWordWithACapitalIsReadInSmallLetters) {
  EXPECT_EQ(SmallWord("Vazio", "pt-BR"), "vazio");
  EXPECT_EQ(SmallWord("Épico", "pt"), "épico");
  for (const char* text : {"vazio", "USB", "Dois dados", "Ox"})
    EXPECT_EQ(SmallWord(text, "pt"), std::nullopt) << text;
  EXPECT_EQ(SmallWord("Haus", "de"), std::nullopt);
  EXPECT_EQ(SmallWord("Talo", "fi"), std::nullopt);
}

TEST(CarrierSentenceTest, AnArticleIsTakenOff) {
  EXPECT_EQ(WithoutArticle("A frente", "pt"), "frente");
  EXPECT_EQ(WithoutArticle("the circus", "en-GB"), "circus");
  EXPECT_EQ(WithoutArticle("adiante", "pt"), "adiante");
  EXPECT_EQ(WithoutArticle("a porta", ""), "a porta");
}

}  // namespace
}  // namespace millrace::translation
