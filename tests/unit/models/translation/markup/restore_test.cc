#include "models/translation/markup/restore.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "models/translation/markup/money_signs.h"
#include "models/translation/markup/number_repair.h"
#include "models/translation/markup/source_sentences.h"
#include "tests/unit/models/translation/markup/hand_translation.h"

namespace millrace::translation {
namespace {

MarkedText ReadMarked(std::string_view text,
                      models::TextFormat format = models::TextFormat::kHtml) {
  const auto sentences = ReadSentences(text, format, "en", {});
  return sentences.front().marked;
}

TEST(RestoreTest, ATagFollowsItsWords) {
  EXPECT_EQ(Restored(ReadMarked("The <b>white</b> house"), "A/0 casa/2 branca/1"),
            "A casa <b>branca</b>");
  EXPECT_EQ(Restored(ReadMarked("The <b>white</b> <i>house</i>"), "A/0 casa/2 branca/1"),
            "A <i>casa</i> <b>branca</b>");
}

TEST(RestoreTest, AToolsPlaceholdersAreTagsWithinASentence) {
  EXPECT_EQ(Restored(ReadMarked("The <b0>white</b0> <x12>house</x12>"), "A/0 casa/2 branca/1"),
            "A <x12>casa</x12> <b0>branca</b0>");
  EXPECT_EQ(Restored(ReadMarked("Open <b0></b0> now"), "Abra/0 agora/1"), "Abra <b0></b0> agora");
  // h1 is an element of HTML.
  EXPECT_EQ(ReadSentences("One <h1>two</h1>", models::TextFormat::kHtml, "en", {}).size(),
            size_t{2});
}

TEST(RestoreTest, WhatIsKeptTouchesNothingElseThatIsKept) {
  const MarkedText apart = ReadMarked("By `a`, `b` now", models::TextFormat::kMarkdown);
  EXPECT_EQ(Restored(apart, "por/0 X1/1 +X2/2 agora/3"), "por `a` `b` agora");
}

TEST(RestoreTest, WhatTouchesASpanTouchesItStill) {
  constexpr auto kText = models::TextFormat::kText;
  EXPECT_EQ(Restored(ReadMarked("Open -{a} now", kText), "Abra/0 -/1 X1/1 agora/2"),
            "Abra -{a} agora");
  EXPECT_EQ(Restored(ReadMarked("Open {a}'s book", kText), "Abra/0 livro/2 X1/1 's/1"),
            "Abra livro {a}'s");
  EXPECT_EQ(Restored(ReadMarked("Open {a} - now", kText), "Abra/0 X1/1 -/2 agora/3"),
            "Abra {a} - agora");
}

TEST(RestoreTest, AMarkAroundASpanTakesNoArticleIn) {
  EXPECT_EQ(Restored(ReadMarked("Open <b>{a}</b> now"), "Abra/0 o/1 X1/1 agora/2"),
            "Abra o <b>{a}</b> agora");
  EXPECT_EQ(Restored(ReadMarked("<b>{a}</b> is here"), "O/0 X1/0 está/1 aqui/2"),
            "O <b>{a}</b> está aqui");
  EXPECT_EQ(Restored(ReadMarked("Open <b>the {a}</b> now"), "Abra/0 o/1 X1/2 agora/3"),
            "Abra <b>o {a}</b> agora");
}

TEST(RestoreTest, NoLineIsEmptyWhateverIsMoved) {
  const MarkedText source =
      ReadMarked("[one](a)\n[two](b)\n[three](c) four\nfive", models::TextFormat::kMarkdown);
  std::vector<size_t> words = {0, 1, 2, 3, 4};
  do {
    std::string by_hand;
    for (const size_t word : words)
      by_hand += "w" + std::to_string(word) + "/" + std::to_string(word) + " ";
    const std::string out = Restored(source, by_hand);
    EXPECT_EQ(std::ranges::count(out, '\n'), 3) << out;
    EXPECT_EQ(out.find("\n\n"), std::string::npos) << out;
    EXPECT_FALSE(out.starts_with('\n') || out.ends_with('\n')) << out;
  } while (std::ranges::next_permutation(words).found);
}

TEST(RestoreTest, NoLineBeginsWithWhatWouldBeAnItemOfAList) {
  const auto restored = [](std::string_view text, std::string_view by_hand) {
    return Restored(ReadMarked(text, models::TextFormat::kMarkdown), by_hand);
  };
  EXPECT_EQ(restored("one two\nthree - four", "um/0 dois/1 -/3 três/2 quatro/4"),
            "um dois -\ntrês quatro");
  EXPECT_EQ(restored("one two\nin 5. four", "um/0 dois/1 5/3 +./3 em/2 quatro/4"),
            "um\ndois 5. em quatro");
}

TEST(RestoreTest, ATagStandsOnceAroundOneStretch) {
  EXPECT_EQ(Restored(ReadMarked("I do <b>not want</b> it"), "Não/2 o/4 quero/3"),
            "<b>Não o quero</b>");
  EXPECT_EQ(Restored(ReadMarked("I do <b>not want</b> it"), "Não/2 a/4 b/0 c/1 d/4 quero/3"),
            "<b>Não</b> a b c d quero");
}

TEST(RestoreTest, ATagDoesNotReachOverAnothersWords) {
  EXPECT_EQ(Restored(ReadMarked("<b>one</b> <i>two</i> three"), "um/0 dois/1 um/0 três/2"),
            "<b>um</b> <i>dois</i> um três");
}

TEST(RestoreTest, TagsStayNested) {
  EXPECT_EQ(
      Restored(ReadMarked("<i>The <b>white</b> house</i> here"), "Aqui/3 a/0 casa/2 branca/1"),
      "Aqui <i>a casa <b>branca</b></i>");
  // The inner one's word has left the outer one's.
  EXPECT_EQ(Restored(ReadMarked("<i>one <b>two</b> three</i> four five"),
                     "dois/1 quatro/3 cinco/4 um/0 três/2"),
            "dois quatro cinco <i>um <b>três</b></i>");
}

TEST(RestoreTest, ATagAroundAllIsAroundAll) {
  EXPECT_EQ(Restored(ReadMarked("<b>The <i>white</i> house.</b>"), "Casa/2 branca/1 sim/0 +./2"),
            "<b>Casa <i>branca</i> sim.</b>");
}

TEST(RestoreTest, AWordOfWhichAPartIsMarkedIsMarked) {
  const auto restored = [](std::string_view text, std::string_view target,
                           const std::vector<AlignedPiece>& pieces) {
    return Restore(ReadMarked(text), target, pieces);
  };
  // "bold" and "text" are tokens of one word, and the article comes from the first of them.
  EXPECT_EQ(restored("<b>bold</b>text here", "o boldtext aqui",
                     {{0, 1, 0}, {1, 6, 0}, {6, 10, 4}, {10, 15, 9}}),
            "o <b>boldtext</b> aqui");
  EXPECT_EQ(
      restored("the <b>red</b>and blue", "vermelho e azul", {{0, 8, 4}, {8, 10, 7}, {10, 15, 11}}),
      "<b>vermelho</b> e azul");
}

TEST(RestoreTest, NoMarkStandsWithinAContraction) {
  EXPECT_EQ(Restore(ReadMarked("a <b>ele</b> veio"), "a it's come",
                    std::vector<AlignedPiece>{{0, 1, 0}, {1, 4, 2}, {4, 6, 6}, {6, 11, 6}}),
            "a <b>it's</b> come");
}

TEST(RestoreTest, AMarkAloneStandsWhereItDivides) {
  EXPECT_EQ(Restored(ReadMarked("one two <img src=x> three four"), "dois/1 um/0 quatro/3 três/2"),
            "dois um <img src=x> quatro três");
  EXPECT_EQ(Restored(ReadMarked("one two<img> three"), "dois/1 um/0 três/2"), "dois um<img> três");
}

TEST(RestoreTest, ATagWhoseWordsAreGoneStandsAtTheNearest) {
  EXPECT_EQ(Restored(ReadMarked("one <a>the</a> two three"), "um/0 dois/2 três/3"),
            "um <a>dois</a> três");
}

TEST(RestoreTest, APairMayGoOnInTheNextSentence) {
  const auto sentences =
      ReadSentences("One <b>two. Three</b> four.", models::TextFormat::kHtml, "en", {});
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(Restored(sentences[0].marked, "Um/0 dois/1 +./1"), "Um <b>dois.");
  EXPECT_EQ(Restored(sentences[1].marked, "Três/0 quatro/1 +./1"), "Três</b> quatro.");
  EXPECT_EQ(Restored(sentences[1].marked, "Quatro/1 três/0"), "Quatro três</b>");
}

TEST(RestoreTest, TheSpaceBehindAWordDoesNotMoveItsTag) {
  EXPECT_EQ(Restored(ReadMarked("The <b>new </b>car is"), "O/0 novo/2 carro/2 é/3"),
            "O <b>novo</b> carro é");
}

TEST(RestoreTest, MarksDoNotDivideWords) {
  EXPECT_EQ(Restored(ReadMarked("play<b>ing</b> now"), "jog/0 +ando/1 agora/1"),
            "<b>jogando</b> agora");
}

TEST(RestoreTest, ATagTakesNoArticleInThatItDidNotEnclose) {
  EXPECT_EQ(Restored(ReadMarked("Click <b>Save</b> now"), "Clique/0 em/1 Salvar/1 agora/2"),
            "Clique em <b>Salvar</b> agora");
  EXPECT_EQ(Restored(ReadMarked("Read <b>the terms</b> now"), "Leia/0 os/1 termos/2 agora/3"),
            "Leia <b>os termos</b> agora");
  EXPECT_EQ(Restored(ReadMarked("You have <b>new</b> mail"), "Tem/1 um/2 novo/3 e-mail/3"),
            "Tem um <b>novo</b> e-mail");
  EXPECT_EQ(Restored(ReadMarked("<b>Cars</b> go"), "Os/0 carros/0 vão/1"), "<b>Os carros</b> vão");
  EXPECT_EQ(Restored(ReadMarked("Say <b>with</b> now"), "Diga/0 com/1 agora/2"),
            "Diga <b>com</b> agora");
}

TEST(RestoreTest, AMarkThatTouchesAWordFollowsIt) {
  constexpr auto kText = models::TextFormat::kText;
  EXPECT_EQ(Restored(ReadMarked("%d file(s) are here", kText), "O/0 arquivo/1 X1/0 está/2 aqui/3"),
            "O arquivo(s) %d está aqui");
  EXPECT_EQ(ReadMarked("Hello [*name*], welcome", kText).text, "Hello X1, welcome");
  EXPECT_EQ(ReadMarked("Hello *my* name", kText).text, "Hello my name");
}

TEST(RestoreTest, AnAcceleratorKeyIsBeforeTheWordThatItBelongsTo) {
  const auto restored = [](const char* text, const char* translation) {
    return Restored(ReadMarked(text, models::TextFormat::kText), translation);
  };
  EXPECT_EQ(restored("Save E&xit", "Salvar/0 saída/1"), "Salvar &saída");
  EXPECT_EQ(restored("Save E_xit", "Salvar/0 saída/1"), "Salvar _saída");
}

TEST(RestoreTest, AMarkThatNothingComesFromIsAroundAWordAtItsPlace) {
  EXPECT_EQ(Restored(ReadMarked("Hello <b>you</b>"), "Olá/0 +,/1 você/0"), "Olá, <b>você</b>");
}

TEST(RestoreTest, StandInsBecomeWhatTheyStandFor) {
  const MarkedText source = ReadMarked("Dear {name}, see {url}.", models::TextFormat::kText);
  EXPECT_EQ(source.text, "Dear X1, see X2.");
  EXPECT_EQ(Restored(source, "Veja/2 X2/3 +,/1 caro/0 X1/1 +./3"), "Veja {url}, caro {name}.");
  EXPECT_EQ(Restored(source, "Veja/2 x2/3 +,/1 x1/1"), "Veja {url}, {name}");
}

TEST(RestoreTest, ALostStandInTakesThePlaceOfTheWordsThatComeFromIt) {
  const MarkedText source = ReadMarked("Dear {name}, see {url}.", models::TextFormat::kText);
  EXPECT_EQ(Restored(source, "Caro/0 Sr/1 Xis/1 veja/2 X2/3"), "Caro {name} veja {url}");
}

TEST(RestoreTest, AStandInThatNothingComesFromStandsBeforeWhatCameBehindIt) {
  const MarkedText source = ReadMarked("Dear {name}, see {url}.", models::TextFormat::kText);
  EXPECT_EQ(Restored(source, "Caro/0 veja/2 X2/3"), "Caro {name} veja {url}");
  EXPECT_EQ(Restored(source, "Caro/0 X1/1"), "Caro {name} {url}");
}

TEST(RestoreTest, AStandInThatIsSaidTwiceComesOnce) {
  const MarkedText source = ReadMarked("Dear {name}, see {url}.", models::TextFormat::kText);
  EXPECT_EQ(Restored(source, "Caro/0 X1/1 X1/1 veja/2 X2/3"), "Caro {name} veja {url}");
}

TEST(RestoreTest, WhatIsPutBackIsWithinItsTag) {
  const MarkedText source = ReadMarked("Open <b>{name}</b> &amp; go");
  EXPECT_EQ(Restored(source, "Abra/0 X1/1 +&/2 vá/3"), "Abra <b>{name}</b>&amp; vá");
  EXPECT_EQ(Restored(source, "Abra/0 Xis/1 um/1 <vá>/3"), "Abra <b>{name}</b> &lt;vá&gt;");
}

TEST(RestoreTest, ASuffixOfAnotherScriptMayFollowAStandIn) {
  const MarkedText source = ReadMarked("Open {name} now", models::TextFormat::kText);
  EXPECT_EQ(Restored(source, "지금/2 X1을/1 열어요/0"), "지금 {name}을 열어요");
}

TEST(RestoreTest, ASignBehindAWordIsNotOfItsTag) {
  const MarkedText source = ReadMarked("Open <b>{name}</b>.");
  EXPECT_EQ(Restored(source, "Abra/0 X1./1"), "Abra <b>{name}</b>.");
  EXPECT_EQ(Restored(ReadMarked("Open <b>it</b>."), "Abra/0 isso./1"), "Abra <b>isso</b>.");
}

TEST(RestoreTest, AWrappedLineIsWrappedAgain) {
  const MarkedText source = ReadMarked(
      "This line is long enough that it could be wrapped\nby somebody.", models::TextFormat::kText);
  const std::string restored =
      Restore(source, "Esta linha é tão longa que podia ser quebrada por alguém.", {});
  EXPECT_EQ(std::ranges::count(restored, '\n'), 1);
  EXPECT_EQ(restored.find(" \n"), std::string::npos);
}

TEST(RestoreTest, ANumberThatWasChangedIsCorrected) {
  const MarkedText source = ReadMarked("In 2019 we sold 1,250 of 34.", models::TextFormat::kText);
  EXPECT_EQ(Restored(source, "Em/0 2009/1 vendemos/3 1.250/4 de/5 34/6"),
            "Em 2019 vendemos 1.250 de 34");
  EXPECT_EQ(Restored(source, "Vendemos/3 1.250/4"), "Vendemos 1.250");
}

std::string MoneyRepaired(std::string_view source, std::string target) {
  const auto repairs = RepairMoneySigns(source, target);
  for (auto repair = repairs.rbegin(); repair != repairs.rend(); ++repair)
    target.replace(repair->target.begin, repair->target.end - repair->target.begin,
                   repair->becomes);
  return target;
}

TEST(MoneyRepairTest, ASignThatBecameAnotherIsPutBack) {
  EXPECT_EQ(MoneyRepaired("Custa US$ 10 ou R$ 55.", "It costs $10 or $55."),
            "It costs $10 or R$ 55.");
  EXPECT_EQ(MoneyRepaired("C$20, A$20 or $20", "$20, $20 ou $20"), "C$20, A$20 ou $20");
  EXPECT_EQ(MoneyRepaired("R$ 1.000,50", "US $ 1,000.50"), "R$ 1,000.50");
}

TEST(MoneyRepairTest, ASignThatMeansTheSameStays) {
  for (const char* target : {"$5", "US$5", "US$ 5", "5 dólares"})
    EXPECT_EQ(MoneyRepaired("$5", target), target);
  EXPECT_EQ(MoneyRepaired("$5 or $10", "US $ 5 ou US $ 10"), "$5 ou $10");
  EXPECT_EQ(MoneyRepaired("R$ 5", "R$ 5,00"), "R$ 5,00");
  EXPECT_EQ(MoneyRepaired("no money", "$5"), "$5");
  EXPECT_EQ(MoneyRepaired("PRICE $5", "PREÇO $5"), "PREÇO $5");
}

TEST(NumberRepairTest, LeavesWhatItCannotTell) {
  EXPECT_TRUE(RepairNumbers("1,234.5 and 12", "1.234,5 e 13").empty());
  EXPECT_TRUE(RepairNumbers("At 5 pm in 2020", "Às 17h em 2020").empty());
  EXPECT_TRUE(RepairNumbers("100 and 200", "duzentos").empty());
  EXPECT_TRUE(RepairNumbers("no number", "12345").empty());
}

// Trees of tags around random words, translated into words in any order.
TEST(RestoreTest, ANoBreakSpaceStandsBetweenTheSameWords) {
  EXPECT_EQ(Restored(ReadMarked("It is 10&nbsp;km away"), "Está/0 a/1 10/2 km/3"),
            "Está a 10&nbsp;km");
  EXPECT_EQ(Restored(ReadMarked("It is 10&nbsp;km away"), "Longe/4 fica/1 a/1 10/2 km/3 daqui/0"),
            "Longe fica a 10&nbsp;km daqui");
  EXPECT_EQ(Restored(ReadMarked("It is 10&#160;km away"), "Sono/0 10/2 km/3"), "Sono 10&#160;km");
}

TEST(RestoreTest, CharactersAreWrittenAsTheSourceWroteThem) {
  EXPECT_EQ(Restored(ReadMarked("Caf&eacute; &amp; caf&#233;"), "Café/0 e/1 café/2 é/2"),
            "Caf&eacute; e caf&#233; é");
  EXPECT_EQ(Restored(ReadMarked("a < b > c & dd"), "d/6 >/3 e/4 </1 f/0 &/5 g/6"), "d > e < f & g");
}

TEST(RestoreTest, ASignThatWouldBecomeMarkupIsEscaped) {
  EXPECT_EQ(Restored(ReadMarked("a < b"), "<a/0"), "&lt;a");
  EXPECT_EQ(Restored(ReadMarked("a < b"), "</1"), "&lt;");
  EXPECT_EQ(Restored(ReadMarked("xyz & y"), "&y/0"), "&amp;y");
  EXPECT_EQ(Restored(ReadMarked("xyz &amp y"), "&y/0"), "&amp;y");
}

TEST(RestoreTest, WhateverTheOrderOfTheWordsNothingIsLostAndAllStaysNested) {
  std::mt19937 random(3);
  const auto translate = [&random](const MarkedText& source) {
    Translation translation;
    const size_t words = random() % 12;
    for (size_t i = 0; i < words; ++i) {
      const size_t begin = translation.text.size();
      translation.text += (i == 0 ? "" : " ");
      translation.text += random() % 4 == 0 ? "X" + std::to_string(1 + random() % 6) : "palavra";
      translation.pieces.push_back(
          {begin, translation.text.size(), random() % (source.text.size() + 1)});
    }
    if (random() % 3 == 0) translation.pieces.clear();
    return translation;
  };
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    std::vector<std::string> open;
    size_t tags = 0;
    size_t kept = 0;
    for (int i = 0; i < 20; ++i) {
      switch (random() % 5) {
        case 0:
          open.push_back("t" + std::to_string(++tags));
          text += "<span" + std::to_string(tags) + "></span" + std::to_string(tags) + ">";
          text += "<b>";
          open.back() = "b";
          break;
        case 1:
          if (!open.empty()) {
            text += "</" + open.back() + "> ";
            open.pop_back();
          }
          break;
        case 2:
          text += "{p" + std::to_string(++kept) + "} ";
          break;
        case 3:
          text += "<img> ";
          break;
        default:
          text += "word" + std::to_string(i) + " ";
      }
    }
    for (; !open.empty(); open.pop_back()) text += "</" + open.back() + ">";
    std::string inline_text;
    for (size_t at = 0; at < text.size();) {
      // Elements that are no inline ones would divide.
      const bool own = text.compare(at, 5, "<span") == 0 || text.compare(at, 6, "</span") == 0;
      const size_t end = own ? text.find('>', at) + 1 : at + 1;
      if (!own) inline_text += text[at];
      at = end;
    }
    std::string out;
    size_t expected_images = 0;
    for (const SourceSentence& sentence :
         ReadSentences(inline_text, models::TextFormat::kHtml, "en", {})) {
      const Translation first = translate(sentence.marked);
      if (round % 2 == 0) {
        out += Restore(sentence.marked, first.text, first.pieces) + sentence.behind;
        continue;
      }
      // By way of another language.
      const TranslatedSentence between(RestoreMarks(sentence.marked, first.text, first.pieces),
                                       sentence.behind);
      for (const SourceSentence& again : ReadSentences(between, "en", {})) {
        const Translation second = translate(again.marked);
        out += Restore(again.marked, second.text, second.pieces) + again.behind;
      }
    }
    for (size_t at = inline_text.find("<img>"); at != std::string::npos;
         at = inline_text.find("<img>", at + 1))
      ++expected_images;
    ASSERT_TRUE(WellNested(out)) << inline_text << "\n" << out;
    for (size_t i = 1; i <= kept; ++i) {
      const std::string name = "{p" + std::to_string(i) + "}";
      const size_t first = out.find(name);
      ASSERT_NE(first, std::string::npos) << inline_text << "\n" << out;
      ASSERT_EQ(out.find(name, first + 1), std::string::npos) << inline_text << "\n" << out;
    }
    size_t images = 0;
    for (size_t at = out.find("<img>"); at != std::string::npos; at = out.find("<img>", at + 1))
      ++images;
    ASSERT_EQ(images, expected_images) << inline_text << "\n" << out;
    ASSERT_EQ(std::ranges::count(out, '<'), std::ranges::count(inline_text, '<'));
  }
}

}  // namespace
}  // namespace millrace::translation
