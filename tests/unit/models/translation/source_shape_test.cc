#include "models/translation/source_shape.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace millrace::translation {
namespace {

std::string Shaped(std::string_view source, std::string_view translation,
                   std::string_view language = "en") {
  return ShapedLike({.text = source, .target_language = language}, std::string(translation));
}

TEST(SourceShapeTest, DoubledWordsOfAShortTextGo) {
  EXPECT_EQ(Shaped("Cancelar", "Cancel Cancel"), "Cancel");
  EXPECT_EQ(Shaped("Sr.", "Mr. Mr."), "Mr.");
  EXPECT_EQ(Shaped("slow", "lento lento lento", "pt"), "lento");
  EXPECT_EQ(Shaped("Olá", "Hello, the hello"), "Hello");
  EXPECT_EQ(Shaped("Não, não", "No, no"), "No, no");
  EXPECT_EQ(Shaped("Sim:", "Yes, I':"), "Yes:");
  EXPECT_EQ(Shaped("Please wait", "Por favor, aguarde", "pt"), "Por favor, aguarde");
}

TEST(SourceShapeTest, ACapitalBehindTheNumberOfAnItemStays) {
  EXPECT_EQ(Shaped("1. Preheat the old oven.", "1. aqueça o forno velho.", "pt"),
            "1. Aqueça o forno velho.");
  EXPECT_EQ(Shaped("12) Abra a porta da casa", "12) open the door of the house"),
            "12) Open the door of the house");
  EXPECT_EQ(Shaped("2024. The year of the cat", "2024. o ano do gato", "pt"),
            "2024. o ano do gato");
  EXPECT_EQ(Shaped("1. don't run", "1. Não corra", "pt"), "1. não corra");
}

TEST(SourceShapeTest, AnEllipsisThatBeginsATextTouchesItsWordAsInTheSource) {
  EXPECT_EQ(Shaped("...but not so soon.", "... mas n\u00E3o t\u00E3o cedo.", "pt"),
            "...mas n\u00E3o t\u00E3o cedo.");
  EXPECT_EQ(Shaped("... but not so soon.", "... mas n\u00E3o t\u00E3o cedo.", "pt"),
            "... mas n\u00E3o t\u00E3o cedo.");
}

TEST(SourceShapeTest, WhatTheSourceLacksGoesFromAShortText) {
  EXPECT_EQ(Shaped("Logout", "Logout (em", "pt"), "Logout");
  EXPECT_EQ(Shaped("Inc.", "Inc. (em inglês).", "pt"), "Inc.");
  EXPECT_EQ(Shaped("Hello", "Olá,", "pt"), "Olá");
  EXPECT_EQ(Shaped("Termos de uso", "Terms of Use - s"), "Terms of Use");
  EXPECT_EQ(Shaped("Save (all)", "Salvar (tudo)", "pt"), "Salvar (tudo)");
  EXPECT_EQ(Shaped("At nine", "9 a.m."), "9 a.m.");
}

TEST(SourceShapeTest, AnArticleThatTheSourceLacksGoesFromAnEnglishLabel) {
  EXPECT_EQ(Shaped("Local ideal", "The ideal place"), "Ideal place");
  EXPECT_EQ(Shaped("Recusar", "To refuse"), "Refuse");
  EXPECT_EQ(Shaped("Despublicar", "To be published"), "To be published");
  EXPECT_EQ(Shaped("Editado", "Edited by"), "Edited");
  EXPECT_EQ(Shaped("O local ideal", "The ideal place"), "The ideal place");
  EXPECT_EQ(Shaped("Acabou a festa.", "The party is over."), "The party is over.");
}

TEST(SourceShapeTest, ABracketThatTheSourceOnlyClosesOpensNone) {
  EXPECT_EQ(Shaped("a) vermelho b) verde c) azul", "a) red b) green (c) blue"),
            "a) red b) green c) blue");
  EXPECT_EQ(Shaped("(a) vermelho", "(a) red"), "(a) red");
}

TEST(SourceShapeTest, BracketsThatTheSourceLacksGoFromTheEndOfAnyText) {
  EXPECT_EQ(Shaped("© 2024 Acme Trading Inc.", "© 2024 Acme Trading Inc. (em inglês).", "pt"),
            "© 2024 Acme Trading Inc.");
  EXPECT_EQ(
      Shaped("The old house (of stone) is here.", "A casa antiga está aqui (de pedra).", "pt"),
      "A casa antiga está aqui (de pedra).");
  // A digit may be that of a stand-in.
  EXPECT_EQ(Shaped("The file is in the folder X1.", "O arquivo está na pasta (X1).", "pt"),
            "O arquivo está na pasta (X1).");
}

TEST(SourceShapeTest, AShortTextHasTheEndMarksOfItsSource) {
  EXPECT_EQ(Shaped("Carregando...", "Loading"), "Loading...");
  EXPECT_EQ(Shaped("Failed!", "Falhou.", "pt"), "Falhou!");
  EXPECT_EQ(Shaped("Nome:", "Name"), "Name:");
  EXPECT_EQ(Shaped("Pular para o conteúdo", "Jump to the content!"), "Jump to the content");
}

TEST(SourceShapeTest, AQuestionStaysOne) {
  EXPECT_EQ(Shaped("Is it at the old house?", "Fica na casa antiga.", "pt"),
            "Fica na casa antiga?");
  EXPECT_EQ(Shaped("Was it in 100 BC?", "Foi em 100 a.C.", "pt"), "Foi em 100 a.C.?");
  EXPECT_EQ(Shaped("He asked: who is there?", "\"Quem está aí?\", perguntou.", "pt"),
            "\"Quem está aí?\", perguntou.");
}

TEST(SourceShapeTest, SingleQuotesStaySingle) {
  EXPECT_EQ(Shaped("The 'old house' isn't here.", "A \"casa antiga\" não está aqui.", "pt"),
            "A 'casa antiga' não está aqui.");
  EXPECT_EQ(Shaped("The dogs' house isn't here.", "A \"casa\" não está aqui.", "pt"),
            "A \"casa\" não está aqui.");
  EXPECT_EQ(Shaped("The \"old\" 'house' here.", "A \"casa\" \"antiga\" aqui.", "pt"),
            "A \"casa\" \"antiga\" aqui.");
}

TEST(SourceShapeTest, EndMarksOfChineseAndJapaneseCountAsThoseOfOthers) {
  EXPECT_EQ(Shaped("Cancel", "取消。", "zh"), "取消");
  EXPECT_EQ(Shaped("Cancel.", "取消", "zh"), "取消。");
  EXPECT_EQ(Shaped("Really?", "真的。", "zh"), "真的？");
  EXPECT_EQ(Shaped("Loading...", "読み込み中", "ja"), "読み込み中...");
  EXPECT_EQ(Shaped("取消", "Cancel."), "Cancel");
  EXPECT_EQ(Shaped("取消。", "Cancel."), "Cancel.");
  EXPECT_EQ(Shaped("名前：", "Name"), "Name:");
  EXPECT_EQ(Shaped("We will meet them in front of the station.", "我们将在车站前面见他们", "zh"),
            "我们将在车站前面见他们。");
  EXPECT_EQ(Shaped("我们将在车站前面见他们。", "We will meet them in front of the station"),
            "We will meet them in front of the station.");
}

TEST(SourceShapeTest, ASentenceWithoutSpacesIsNotShort) {
  EXPECT_TRUE(IsShort("取消"));
  EXPECT_TRUE(IsShort("保存所有文件"));
  EXPECT_FALSE(IsShort("这个测试非常重要，你知道的。"));
  EXPECT_EQ(Shaped("这项测试非常重要，你知道的。", "This test (as you know) is very important."),
            "This test (as you know) is very important.");
  EXPECT_EQ(Shaped("保存（全部）", "Save (all)"), "Save (all)");
  EXPECT_EQ(Shaped("好，好", "Good, good"), "Good, good");
}

TEST(SourceShapeTest, TheFirstLetterIsAsInTheSource) {
  EXPECT_EQ(Shaped("oi", "Hi"), "hi");
  EXPECT_EQ(Shaped("Tomorrow", "amanhã", "pt"), "Amanhã");
  EXPECT_EQ(Shaped("água", "Água", "es"), "água");
  EXPECT_EQ(Shaped("domingo", "Sunday"), "Sunday");
  EXPECT_EQ(Shaped("casa", "Haus", "de"), "Haus");
  EXPECT_EQ(Shaped("eu vi a casa ontem", "I saw the house yesterday"), "I saw the house yesterday");
  EXPECT_EQ(Shaped("iPhone", "IPhone", "pt"), "IPhone");
  EXPECT_EQ(Shaped("a NASA", "NASA"), "NASA");
}

TEST(SourceShapeTest, SignsOfAShortTextHaveTheSpacesOfItsSource) {
  EXPECT_EQ(Shaped("Sim/Não", "Yes / No"), "Yes/No");
  EXPECT_EQ(Shaped("Ctrl+C", "Ctrl + C", "pt"), "Ctrl+C");
  EXPECT_EQ(Shaped("USB-C", "USB - C"), "USB-C");
  EXPECT_EQ(Shaped("\"Citado\"", "\"Cited \""), "\"Cited\"");
  EXPECT_EQ(Shaped("[Obrigatório]", "[ Required]"), "[Required]");
  EXPECT_EQ(Shaped("Log in / out", "Entrar / Sair", "pt"), "Entrar / Sair");
}

TEST(SourceShapeTest, AShortTextInSmallLettersStaysSo) {
  EXPECT_EQ(Shaped("modo escuro", "dark Mode"), "dark mode");
  EXPECT_EQ(Shaped("na segunda", "on Monday"), "on Monday");
  EXPECT_EQ(Shaped("usar wi-fi", "use Wi-Fi"), "use Wi-Fi");
  EXPECT_EQ(Shaped("o", "the A"), "the");
}

TEST(SourceShapeTest, AJointReadsOn) {
  EXPECT_EQ(Shaped("In this agreement the tenant pays the rent,", "Neste acordo, o locatário paga.",
                   "pt"),
            "Neste acordo, o locatário paga,");
  EXPECT_EQ(Shaped("and the bank sends a letter", "E o banco envia uma carta.", "pt"),
            "e o banco envia uma carta");
  EXPECT_EQ(Shaped("the city grants the permit;", "A cidade concede a licença", "pt"),
            "a cidade concede a licença;");
  EXPECT_EQ(Shaped("We went to the old beach.", "Fomos à praia velha", "pt"),
            "Fomos à praia velha.");
}

TEST(SourceShapeTest, AKeptBeginningHasNoFirstLetter) {
  EXPECT_EQ(
      ShapedLike({.text = "x1 was here today", .target_language = "pt", .any_first_letter = true},
                 "Esteve aqui hoje x1"),
      "Esteve aqui hoje x1");
}

TEST(SourceShapeTest, AListInSmallLettersGetsNoCapitals) {
  const SourceShape list = {.text = "o parque, o museu, o mercado, o lago,",
                            .target_language = "en"};
  EXPECT_EQ(ShapedLike(list, "Park, Museum, Market, Lake,"), "park, museum, market, lake,");
  const SourceShape names = {.text = "fui com a maria a lisboa e ao porto ontem",
                             .target_language = "en"};
  EXPECT_EQ(ShapedLike(names, "i went with Maria to Lisbon and Porto yesterday"),
            "i went with Maria to Lisbon and Porto yesterday");
}

TEST(SourceShapeTest, FewWordsLeadOnToNothing) {
  EXPECT_EQ(Shaped("Thanks", "Obrigado por", "pt"), "Obrigado");
  EXPECT_EQ(Shaped("Nenhum", "None of the"), "None");
  EXPECT_EQ(Shaped("Sort by", "Ordenar por", "pt"), "Ordenar por");
  EXPECT_EQ(Shaped("Downloads", "Downloads de livros", "pt"), "Downloads");
  EXPECT_EQ(Shaped("About", "Acerca de", "pt"), "Acerca de");
}

TEST(SourceShapeTest, FewWordsGetNoRemark) {
  EXPECT_EQ(Shaped("O arquivo não foi encontrado", "File not found - sdnnnnn"), "File not found");
  EXPECT_EQ(Shaped("O arquivo não foi encontrado:", "File not found \"be:"), "File not found:");
  EXPECT_EQ(Shaped("A casa é muito velha, João", "The house is very old - John"),
            "The house is very old - John");
}

}  // namespace
}  // namespace millrace::translation
