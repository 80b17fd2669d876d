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

TEST(CarrierSentenceTest, AVerbIsReadInACommand) {
  EXPECT_EQ(CommandSentence("Mute", "en"), "Click here to mute.");
  EXPECT_EQ(CommandSentence("Muted", "en-GB"), "The file was muted.");
  EXPECT_EQ(CommandSentence("Retomar", "pt"), "Clique aqui para retomar.");
  EXPECT_EQ(CommandSentence("Pausado", "pt"), "O arquivo foi pausado.");
  for (const char* word : {"Janela", "Sim", "dois ovos"})
    EXPECT_EQ(CommandSentence(word, "pt"), std::nullopt) << word;
  EXPECT_EQ(CommandSentence("Mute", "de"), std::nullopt);
  EXPECT_EQ(CommandVerb("Mute", "Clique aqui para silenciar.", "pt"), "silenciar");
  EXPECT_EQ(CommandVerb("Muted", "O arquivo foi silenciado.", "pt"), "silenciado");
  EXPECT_EQ(CommandVerb("Retomar", "Click here to resume.", "en"), "resume");
  EXPECT_EQ(CommandVerb("Lido", "The file was read.", "en"), "read");
  // A few words that begin with an infinitive.
  EXPECT_EQ(CommandSentence("Pagar com Pix", "pt"), "Clique aqui para pagar com Pix.");
  EXPECT_EQ(CommandSentence("Pay by card", "en"), std::nullopt);
  EXPECT_EQ(CommandVerb("Pagar com Pix", "Click here to pay with Pix.", "en"), "Pay with Pix");
  EXPECT_EQ(CommandVerb("Pagar com Pix", "The file was paid.", "en"), "");
  // A noun, several words, or the word itself.
  EXPECT_EQ(CommandVerb("Slack", "Clique aqui para folga.", "pt"), "");
  EXPECT_EQ(CommandVerb("Hover", "Clique aqui para passar o mouse.", "pt"), "");
  EXPECT_EQ(CommandVerb("Mulher", "Click here for a woman.", "en"), "");
  EXPECT_EQ(CommandVerb("Popular", "Click here to popular.", "en"), "");
  EXPECT_EQ(CommandVerb("Mute", "Silenciar.", "pt"), "");
}

TEST(CarrierSentenceTest, AStutterARepetitionAndACopyAreMisread) {
  const auto misread = [](std::string_view text, std::string_view translation) {
    return LooksMisread(text, translation, "pt");
  };
  EXPECT_TRUE(misread("Turn on GPS", "Ativativa GPS"));
  EXPECT_TRUE(misread("Turn on Wi-Fi", "Ativaar Wi-Fi"));
  EXPECT_TRUE(misread("Split screen", "Tela dividdda"));
  EXPECT_TRUE(misread("Call ended", "Chamada da chamada."));
  EXPECT_TRUE(misread("Merge duplicates", "Merge duplicados"));
  EXPECT_TRUE(misread("Upload done", "Concluído upload"));
  for (const char* translation : {"Ativar o Wi-Fi", "Coordenar", "Papai disse", "Em um em", ""})
    EXPECT_FALSE(misread("Turn on", translation)) << translation;
  EXPECT_FALSE(misread("Skiing with Isaac", "Esquiar com Isaac"));
  EXPECT_FALSE(misread("Radio", "Radio"));
  EXPECT_FALSE(misread("Porto Alegre", "Porto Alegre"));
  EXPECT_FALSE(misread("Very, very good", "Muito, muito bom"));
  EXPECT_FALSE(LooksMisread("Turn on GPS", "Kaikki päälle", "fi"));
}

TEST(CarrierSentenceTest, ACopyOrAnArticleIsUncertain) {
  EXPECT_TRUE(IsUncertainWord("comma", "comma", "pt"));
  EXPECT_TRUE(IsUncertainWord("Ícone", "ícone", ""));
  EXPECT_TRUE(IsUncertainWord("beco", "the circus", "en"));
  EXPECT_TRUE(IsUncertainWord("queijaria", "a cheese shop", "en"));
  EXPECT_TRUE(IsUncertainWord("rio", "rio de janeiro river", "en"));
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

TEST(CarrierSentenceTest, WhatOnlyOneReadingHasAtAnEndIsAnAddition) {
  EXPECT_EQ(WithoutAdditions("Contact Us Privacy Policy", "privacy policy."), "Privacy Policy");
  EXPECT_EQ(WithoutAdditions("Hoje em dia", "hoje"), "Hoje");
  EXPECT_EQ(WithoutAdditions("Renomear o nome", "renome"), "Renomear o nome");
  EXPECT_EQ(WithoutAdditions("Criar uma conta!", "criar conta!"), "Criar uma conta!");
  EXPECT_EQ(WithoutAdditions("Sign Up", "sign up"), "Sign Up");
  EXPECT_EQ(SmallText("Privacy Policy", "en"), "privacy policy");
  EXPECT_EQ(SmallText("Konto", "de"), std::nullopt);
}

TEST(CarrierSentenceTest, SomeEndingsAreThoseOfVerbs) {
  for (const char* word : {"Failed", "Muted"}) EXPECT_TRUE(IsVerbForm(word, "en")) << word;
  for (const char* word : {"Pausar", "Pausado"}) EXPECT_TRUE(IsVerbForm(word, "pt-BR")) << word;
  for (const char* word : {"Firefox", "Red", "Pausar"})
    EXPECT_FALSE(IsVerbForm(word, "en")) << word;
  EXPECT_FALSE(IsVerbForm("Failed", "de"));
}
}  // namespace
}  // namespace millrace::translation
