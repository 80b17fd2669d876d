#include "models/translation/translation_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "models/translation/copied_names.h"

namespace millrace::translation {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns a token for each word; equal words have equal tokens.
std::vector<int32_t> TokensOf(std::string_view text) {
  static std::map<std::string, int32_t> known;
  std::vector<int32_t> tokens;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const auto next = static_cast<int32_t>(known.size());
    tokens.push_back(known.emplace(text.substr(at, end - at), next).first->second);
    at = end + 1;
  }
  return tokens;
}

GuardVerdict Inspect(std::string_view source, std::string_view target,
                     std::vector<int32_t> alignment = {}, bool is_half = false) {
  const std::vector<int32_t> source_tokens = TokensOf(source);
  const std::vector<int32_t> target_tokens = TokensOf(target);
  return InspectTranslation({.source = source,
                             .target = target,
                             .source_language = "en",
                             .target_language = "pt",
                             .source_tokens = source_tokens,
                             .target_tokens = target_tokens,
                             .alignment = alignment,
                             .is_half = is_half,
                             .formats = {NumberFormat::kCommaGroups, NumberFormat::kStopGroups}});
}

constexpr std::string_view kSource =
    "so then we went to the beach and we saw that it was really nice there.";

TEST(TranslationGuardTest, AnOrdinaryTranslationPasses) {
  EXPECT_FALSE(
      Inspect(kSource, "então fomos à praia e vimos que era muito bonito ali mesmo.").suspicious);
  EXPECT_FALSE(Inspect("Hello", "Olá").suspicious);
}

TEST(TranslationGuardTest, ASpaceBeforeTheLastStopShowsThatWordsAreLost) {
  EXPECT_TRUE(Inspect("It turned off and on.", "Ele desligou e au .").lost_content);
  EXPECT_FALSE(Inspect("It turned off and on .", "Ele desligou e ligou .").lost_content);
}

TEST(TranslationGuardTest, ANameBehindALabelThatBecameAnotherIsDividedFromIt) {
  EXPECT_EQ(Inspect("City: New York", "City: Rio de Janeiro").lost_colon, 6U);
  EXPECT_EQ(Inspect("Country: Brazil", "Pa\u00EDs: Estados Unidos").lost_colon, 9U);
  EXPECT_EQ(Inspect("State: California", "State: Lisboa").lost_colon, 7U);
  EXPECT_EQ(Inspect("Country: Germany", "Pa\u00EDs: Alemanha").lost_colon, 0U);
  EXPECT_EQ(Inspect("Country: Brazil", "Pa\u00EDs: Brasil").lost_colon, 0U);
  EXPECT_EQ(Inspect("Name: John Smith", "Nome: John Smith").lost_colon, 0U);
  EXPECT_EQ(Inspect("Price: low to high", "Pre\u00E7o: baixo a alto").lost_colon, 0U);
}

TEST(TranslationGuardTest, AListWithoutCommasHasItsItems) {
  constexpr std::string_view kList = "we bought milk and bread and eggs and then went home";
  EXPECT_TRUE(Inspect(kList, "compramos leite e pão e depois fomos todos para casa").lost_content);
  EXPECT_FALSE(Inspect(kList, "compramos leite, pão e ovos e fomos para casa").lost_content);
  EXPECT_FALSE(Inspect("we bought milk and bread but then we went home",
                       "compramos leite com pão, mas fomos para casa")
                   .lost_content);
}

TEST(TranslationGuardTest, AbsentNumbersAreNamed) {
  const GuardVerdict verdict = Inspect("pay 1,250 to 300 people", "pague 1.250 a pessoas");
  EXPECT_TRUE(verdict.suspicious);
  EXPECT_THAT(verdict.lost_parts, ElementsAre("300"));
  EXPECT_FALSE(verdict.lost_content);
}

TEST(TranslationGuardTest, WordsMayStandForShortNumbers) {
  const GuardVerdict verdict = Inspect("it took 3 days", "levou três dias");
  EXPECT_FALSE(verdict.suspicious);
  EXPECT_THAT(verdict.lost_parts, IsEmpty());
}

TEST(TranslationGuardTest, AShortNumberThatNoWordStandsForIsNamed) {
  EXPECT_THAT(Inspect("10-15 is what they want", "o 10 é o que eles querem").lost_parts,
              ElementsAre("15"));
  EXPECT_THAT(Inspect("No 7.", "Não.").lost_parts, ElementsAre("7"));
  EXPECT_THAT(Inspect("at 5 p.m. today", "às 17h de hoje").lost_parts, IsEmpty());
  EXPECT_THAT(Inspect("the 2nd time", "a segunda vez").lost_parts, IsEmpty());
}

TEST(TranslationGuardTest, AShortEnumerationHasItsCommas) {
  EXPECT_TRUE(Inspect("big, two, horse, three", "grande dois cavalo três").lost_item);
  EXPECT_FALSE(Inspect("big, two, horse, three", "grande, dois, cavalo, três").suspicious);
}

TEST(TranslationGuardTest, AWordMayStandForAPartOfAHalf) {
  const auto half = [](std::string_view source, std::string_view target) {
    return Inspect(source, target, {}, /*is_half=*/true).suspicious;
  };
  EXPECT_FALSE(half("after that, open the door,", "depois abra a porta,"));
  EXPECT_TRUE(half("a lamp, a cat", "uma lâmpada"));
}

TEST(TranslationGuardTest, NoWordStandsForPartOfACode) {
  EXPECT_THAT(Inspect("see 978-3-16-148410-0 now", "veja 978-3-148410-0 agora").lost_parts,
              ElementsAre("16"));
}

TEST(TranslationGuardTest, WordsDoNotBecomeANumberAlone) {
  EXPECT_TRUE(Inspect("404 Not Found", "404").only_number);
  EXPECT_TRUE(Inspect("404 Not Found", "404").suspicious);
  EXPECT_FALSE(Inspect("404 Not Found", "404 Não encontrado").suspicious);
  EXPECT_FALSE(Inspect("12 / 5", "12 / 5").suspicious);
}

TEST(TranslationGuardTest, ALoopIsALoss) {
  EXPECT_TRUE(
      Inspect(kSource, "fomos que nós fomos bem que nós fomos bem que nós fomos bem que nós")
          .lost_content);
  EXPECT_TRUE(Inspect("one two three", "um um um um um").lost_content);
  EXPECT_TRUE(Inspect("one two three", "um um um um um").loops);
  EXPECT_TRUE(Inspect("one two three", "Sdnnnnnnnn de").loops);
  EXPECT_FALSE(Inspect("bye, bye, bye", "tchau, tchau, tchau").suspicious);
  EXPECT_FALSE(Inspect("no no no no no", "não não não não não").suspicious);
}

TEST(TranslationGuardTest, WhatStopsEarlyIsALoss) {
  EXPECT_TRUE(Inspect(kSource, "fomos à praia.").lost_content);
  const std::string longer = "a b c d e f g h i j k l m n o p q r s t u v w x y.";
  EXPECT_TRUE(Inspect(longer, "A B C D E F G H I J K L M N O P Q R S T U V W X Y").lost_content);
  EXPECT_FALSE(Inspect(longer, "A B C D E F G H I J K L M N O P Q R S T U V W X Y.").suspicious);
  EXPECT_FALSE(Inspect(longer, "A B C D E F G H I J K L M N O P Q R S T U V W X Y.\"").suspicious);
}

TEST(TranslationGuardTest, AnEnumerationHasAllItsItems) {
  const std::string_view source = "it has a book, a lamp, a cat, a dog, a key, and a hat.";
  EXPECT_FALSE(
      Inspect(source, "tem um livro, uma luz, um gato, um cão, uma chave e um chapéu.").suspicious);
  EXPECT_TRUE(
      Inspect(source, "tem um livro, uma luz, um gato, uma chave e um chapéu.").lost_content);
  EXPECT_TRUE(Inspect(source, "tem um livro, uma luz, um gato, um gato, uma chave e um chapéu.")
                  .lost_content);
}

TEST(TranslationGuardTest, ClausesOfChineseAreNoEnumeration) {
  const auto inspect = [](std::string_view source, std::string_view target) {
    std::vector<int32_t> source_tokens(20);
    std::iota(source_tokens.begin(), source_tokens.end(), 0);
    return InspectTranslation({.source = source,
                               .target = target,
                               .source_language = "zh",
                               .source_tokens = source_tokens,
                               .target_tokens = source_tokens});
  };
  EXPECT_FALSE(inspect("昨天下午天气非常好，所以我们决定去海边，但是路上车太多，我们最后没有到。",
                       "Yesterday afternoon was so fine that we drove to the beach, but there was "
                       "too much traffic for us to arrive.")
                   .suspicious);
  EXPECT_FALSE(
      inspect("昨天下午天气好，我们去海边，路上车太多，我们没到，大家很累，就回家了，睡觉。",
              "As it was fine we drove to the beach, but never arrived, and slept.")
          .suspicious);
  EXPECT_TRUE(
      inspect("桌上有书，灯，猫，钥匙，还有帽子。", "There are a book and a cat.").lost_content);
}

TEST(TranslationGuardTest, EachStretchOfTheSourceHasItsWords) {
  std::string words;
  std::vector<int32_t> all;
  for (int32_t i = 0; i < 40; ++i) {
    words += "w" + std::to_string(i * 7) + "x ";
    all.push_back(i);
  }
  words += "end";
  all.push_back(40);
  EXPECT_FALSE(Inspect(words, words, all).suspicious);
  for (size_t i = 10; i < 22; ++i) all[i] = 9;
  EXPECT_TRUE(Inspect(words, words, all).lost_content);
}

TEST(TranslationGuardTest, WhatModelsLoseIsKnownBeforeItIsTranslated) {
  EXPECT_FALSE(IsEasilyLost("The cat sat on the mat, and the dog ran.", 12, "en"));
  EXPECT_FALSE(IsEasilyLost("A headline", 3, "en"));
  EXPECT_TRUE(IsEasilyLost("It took 3 days.", 5, "en"));
  EXPECT_TRUE(IsEasilyLost("e.g. this, i.e. that", 8, "en"));
  EXPECT_TRUE(IsEasilyLost("It cost 1,250 euros.", 8, "en"));
  EXPECT_TRUE(IsEasilyLost("A book, a lamp, a chair and a table, all of them old.", 16, "en"));
  EXPECT_TRUE(IsEasilyLost("so then we went to the beach and we saw that it was nice", 24, "en"));
  EXPECT_TRUE(IsEasilyLost("The cat sat on the mat.", 57, "en"));
  EXPECT_TRUE(IsEasilyLost("He likes cats and dogs or birds.", 8, "en"));
  EXPECT_FALSE(IsEasilyLost("He likes cats and dogs or birds.", 8, "ja"));
}

TEST(TranslationGuardTest, BracketsAndSumsThatAreAbsentAreNamed) {
  const GuardVerdict brackets = Inspect("click here (API) to read more about it, my friend",
                                        "clique aqui para ler mais sobre isso, meu amigo");
  EXPECT_TRUE(brackets.suspicious);
  EXPECT_THAT(brackets.lost_parts, ElementsAre("(API)"));
  EXPECT_FALSE(Inspect("a letter to the student(s) of the old school here",
                       "uma carta aos alunos da escola velha aqui mesmo")
                   .suspicious);
  EXPECT_THAT(Inspect("The price is $10 $5.", "O preço é de US $ 5.").lost_parts,
              ElementsAre("10"));
}

TEST(TranslationGuardTest, OfThingsThatAWordJoinsNoneComesTwice) {
  EXPECT_TRUE(Inspect("monthly or yearly", "mensal ou mensal").lost_item);
  EXPECT_TRUE(Inspect("tea or coffee or milk", "chá ou café").lost_item);
  EXPECT_TRUE(Inspect("red, blue or green", "vermelho, azul ou azul").suspicious);
  EXPECT_FALSE(Inspect("monthly or yearly", "mensal ou anual").suspicious);
  EXPECT_FALSE(
      Inspect("next, buy it, then sell it", "em seguida, compre, em seguida, venda").suspicious);
  EXPECT_FALSE(Inspect("more and more", "mais e mais").suspicious);
  EXPECT_FALSE(Inspect("tea or coffee or milk", "chá, café ou leite").suspicious);
}

TEST(TranslationGuardTest, OfThreeThingsNoneComesTwice) {
  constexpr std::string_view kList = "Bring: cold milk, brown sugar, more sea salt";
  EXPECT_TRUE(Inspect(kList, "Traga: leite, sal, sal").lost_content);
  EXPECT_FALSE(Inspect(kList, "Traga: leite frio, açúcar mascavo, mais sal marinho").lost_content);
}

TEST(TranslationGuardTest, AColonBeforeANameIsNeeded) {
  EXPECT_EQ(Inspect("File not found: Makefile", "Arquivo não encontrado").lost_colon, 16u);
  EXPECT_EQ(Inspect("File not found: Makefile", "Arquivo não encontrado: Makefile").lost_colon, 0u);
  EXPECT_EQ(
      Inspect("We need: paper, glue, ink and rulers", "Precisamos de papel, cola, tinta e réguas")
          .lost_colon,
      0u);
}

TEST(TranslationGuardTest, WordsSideBySideAreAllThere) {
  EXPECT_TRUE(Inspect("red green blue yellow", "vermelho azul amarelo").lost_item);
  EXPECT_TRUE(Inspect("Delete Cancel Copy Edit", "Excluir Cancelar Editar Editar").lost_item);
  EXPECT_FALSE(Inspect("red green blue yellow", "vermelho verde azul amarelo").lost_item);
  EXPECT_FALSE(Inspect("the red and green house", "a casa vermelha").lost_item);
  EXPECT_FALSE(Inspect("red car", "carro").lost_item);
}

TEST(TranslationGuardTest, ANumberOfACodeIsCertain) {
  EXPECT_THAT(Inspect("It is 1:02:03", "É uma e 02:03").lost_parts, ElementsAre("1"));
}

TEST(TranslationGuardTest, NamesWithSignsAreCopied) {
  EXPECT_THAT(LostNames("FooBar, key.name and F5 were not found.", "FooBar não"),
              ElementsAre("key.name", "F5"));
  EXPECT_THAT(CopiedNames("The API, e.g. NATO, is at 5pm in the U.S. on the 21st; don't."),
              IsEmpty());
}

}  // namespace
}  // namespace millrace::translation
