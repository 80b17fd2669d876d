#include "models/text/language_detector.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "tests/unit/models/text/language_detector_fixture.h"

namespace millrace::models {
namespace {

TEST_F(LanguageDetectorTest, SentencesAreToldWithConfidence) {
  const DetectedLanguage english = Best("Where is the nearest station?");
  EXPECT_EQ(english.language, "en");
  EXPECT_GT(english.confidence, 0.8F);
  EXPECT_EQ(Best("Onde fica a esta\xC3\xA7\xC3\xA3o mais pr\xC3\xB3xima?").language, "pt");
  EXPECT_EQ(Best("Guten Morgen, wie geht es Ihnen heute?").language, "de");
}

TEST_F(LanguageDetectorTest, OldCodesAreThoseOfToday) {
  EXPECT_EQ(Best("\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D \xD7\x9C\xD7\x9B\xD7\x9D").language, "he");
}

TEST_F(LanguageDetectorTest, AScriptOfItsOwnTellsTheLanguage) {
  EXPECT_EQ(
      Best("\u0395\u03BB\u03BB\u03B7\u03BD\u03B9\u03BA\u03AC \u03B5\u03AF\u03BD\u03B1\u03B9 \u03B7 "
           "\u03B3\u03BB\u03CE\u03C3\u03C3\u03B1 \u03BC\u03BF\u03C5")
          .language,
      "el");
}

TEST_F(LanguageDetectorTest, AWordAloneIsLessSure) {
  const DetectedLanguage word = Best("merci");
  EXPECT_EQ(word.language, "fr");
  EXPECT_GT(word.confidence, 0.0F);
  EXPECT_LE(word.confidence, 0.5F);
}

TEST_F(LanguageDetectorTest, MixedTextHasSeveral) {
  const auto found = DetectLanguages(
      "The children were playing in the garden behind the house all afternoon. "
      "Les enfants jouaient dans le jardin derri\xC3\xA8re la maison tout l'apr\xC3\xA8s-midi.");
  ASSERT_GE(found.size(), 2u);
  EXPECT_GE(found[0].confidence, found[1].confidence);
  EXPECT_LT(found[0].confidence, 0.8F);
}

TEST_F(LanguageDetectorTest, WithoutWordsItCannotBeTold) {
  for (const char* text : {"", "   ", "123 456", "\xF0\x9F\x98\x80", "?!"})
    EXPECT_TRUE(DetectLanguages(text).empty()) << text;
}

TEST_F(LanguageDetectorTest, AWordIsSeldomSurelyOfALanguageThatCannotBeMeant) {
  const auto language_of = [](const std::string& word) {
    return DetectLanguageAmong(word, false,
                               [](const std::string& tag) { return tag == "en" || tag == "pt"; })
        .language;
  };
  for (const char* word : {"doorstep", "keel", "nugget", "skillet", "udder", "overdraft"})
    EXPECT_EQ(language_of(word), "en") << word;
  // Dutch has it as well.
  EXPECT_EQ(language_of("Open"), "en");
  EXPECT_EQ(language_of("Pause menu"), "en");
  EXPECT_EQ(language_of("Custo total"), "pt");
  EXPECT_EQ(language_of("Guten"), "de");
  EXPECT_EQ(language_of("Goedemorgen"), "nl");
  EXPECT_EQ(language_of("bonjour"), "fr");
  EXPECT_EQ(language_of("Einkaufswagen"), "de");
  EXPECT_EQ(language_of("Grazie"), "it");
}

TEST_F(LanguageDetectorTest, ALetterThatNoLanguageMeantHasTellsAnother) {
  const auto language_of = [](const std::string& text) {
    return DetectLanguageAmong(text, false,
                               [](const std::string& tag) { return tag == "en" || tag == "pt"; })
        .language;
  };
  EXPECT_EQ(language_of("Nødudgang"), "da");
  EXPECT_EQ(language_of("Nerušit"), "cs");
  EXPECT_EQ(language_of("Congratulations, Mariana"), "en");
  EXPECT_EQ(language_of("Motor a diesel"), "pt");
  EXPECT_EQ(language_of("Pet shop 24h"), "pt");
  EXPECT_EQ(language_of("Pet shop 24"), "en");
}

TEST_F(LanguageDetectorTest, CharactersTellChineseFromJapanese) {
  const std::vector<std::pair<std::string, std::string>> texts = {{"zh", "你好，世界"},
                                                                  {"zh", "你好"},
                                                                  {"zh", "早上好"},
                                                                  {"zh", "图书馆在哪里"},
                                                                  {"zh", "价格"},
                                                                  {"zh", "您吃饭了吗"},
                                                                  {"zh-Hant", "今天天氣很好"},
                                                                  {"zh-Hant", "圖書館在哪裡"},
                                                                  {"zh-Hant", "價格"},
                                                                  {"ja", "日本語"},
                                                                  {"ja", "東京駅"},
                                                                  {"ja", "価格"},
                                                                  {"ja", "電話番号"},
                                                                  {"ja", "駅はどこですか"}};
  for (const auto& [language, text] : texts) EXPECT_EQ(Best(text).language, language) << text;
}

TEST_F(LanguageDetectorTest, CharactersOfSeveralLanguagesAloneGetThemAll) {
  for (const char* text : {"世界", "水", "大学", "保存"}) {
    const auto found = DetectLanguages(text);
    ASSERT_EQ(found.size(), 2U) << text;
    EXPECT_EQ(found[0].language, "zh") << text;
    EXPECT_EQ(found[1].language, "ja") << text;
    EXPECT_GT(found[0].confidence, found[1].confidence) << text;
  }
  EXPECT_EQ(Best("中国").language, "zh");
  EXPECT_EQ(Best("北京").language, "zh");
  EXPECT_EQ(Best("映画").language, "ja");
  const auto loaded = [](const std::string& tag) { return tag == "ja" || tag == "en"; };
  EXPECT_EQ(DetectLanguageAmong("世界", false, loaded).language, "ja");
}

// Returns the rows of a file that has a language and a text on each line.
std::vector<std::pair<std::string, std::string>> RowsOf(const std::string& name) {
  std::vector<std::pair<std::string, std::string>> rows;
  std::ifstream file(MILLRACE_TEST_DATA "/" + name);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> row = absl::StrSplit(line, '\t');
    rows.emplace_back(row.front(), row.back());
  }
  return rows;
}

// Texts can be added to these files.
TEST_F(LanguageDetectorTest, ShortTextsAreToldFromOneAnother) {
  const auto rows = RowsOf("short_texts.txt");
  ASSERT_GE(rows.size(), 100U);
  std::vector<std::string> wrong;
  for (const auto& [language, text] : rows) {
    for (std::string& one : NotTakenFor(language, {text})) wrong.push_back(std::move(one));
  }
  EXPECT_LE(50 * wrong.size(), rows.size()) << ::testing::PrintToString(wrong);
}

TEST_F(LanguageDetectorTest, ShortTextsOfNeighboursAreTold) {
  for (const char* file : {"ten_languages.txt", "northern_languages.txt"}) {
    const auto rows = RowsOf(file);
    ASSERT_GE(rows.size(), 40U);
    std::vector<std::string> wrong;
    for (const auto& [language, text] : rows) {
      const std::string found = Best(text).language;
      if (found != language) wrong.push_back(text + " (" + found + ")");
    }
    EXPECT_LE(20 * wrong.size(), rows.size()) << file << ::testing::PrintToString(wrong);
  }
}

// Sentences can be added to the file, which has a language and a sentence on each line.
TEST_F(LanguageDetectorTest, ShortSentencesOfEachLanguageAreTold) {
  struct Tally {
    double sentences = 0;
    std::vector<std::string> wrong;
  };
  std::map<std::string, Tally> tallies;
  std::ifstream file(MILLRACE_TEST_DATA "/languages.txt");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> row = absl::StrSplit(line, '\t');
    ASSERT_EQ(row.size(), 2u) << line;
    Tally& tally = tallies[row[0]];
    ++tally.sentences;
    const std::string found = Best(row[1]).language;
    if (!found.starts_with(row[0])) tally.wrong.push_back(row[1] + " (" + found + ")");
  }
  constexpr size_t kFewestLanguages = 26;
  EXPECT_GE(tallies.size(), kFewestLanguages);
  double sentences = 0;
  double right = 0;
  for (const auto& [language, tally] : tallies) {
    const double told = tally.sentences - static_cast<double>(tally.wrong.size());
    RecordProperty(language, absl::StrFormat("%.1f %%", 100 * told / tally.sentences));
    sentences += tally.sentences;
    right += told;
    // Two of a language's eighteen sentences may be like those of its neighbours.
    EXPECT_LE(tally.wrong.size(), 2u) << language << ::testing::PrintToString(tally.wrong);
  }
  constexpr double kBar = 0.98;
  EXPECT_GE(right, kBar * sentences) << right << " of " << sentences;
}

TEST_F(LanguageDetectorTest, WhatIsSurelyInAnotherLanguageIsNotForcedIntoOneThatCanBeMeant) {
  const auto among = [](const std::string& text) {
    return DetectLanguageAmong(text, false,
                               [](const std::string& tag) { return tag == "en" || tag == "pt"; })
        .language;
  };
  EXPECT_EQ(among("Guten Morgen"), "de");
  EXPECT_EQ(among("Goedemorgen"), "nl");
  EXPECT_EQ(among("Bonjour, o\u00F9 est la gare?"), "fr");
  EXPECT_EQ(among("\u041E\u0442\u043C\u0435\u043D\u0430"), "ru");
}

// Nothing is known of their letters, so only the library can tell.
TEST_F(LanguageDetectorTest, ShortTextsOfLanguagesWithoutAProfileAreTold) {
  const auto rows = RowsOf("other_languages.txt");
  ASSERT_GE(rows.size(), 30U);
  std::vector<std::string> wrong;
  for (const auto& [language, text] : rows) {
    if (Best(text).language != language) wrong.push_back(text);
    for (std::string& one : NotTakenFor(language, {text})) wrong.push_back(std::move(one));
  }
  EXPECT_LE(10 * wrong.size(), 2 * rows.size()) << ::testing::PrintToString(wrong);
}

TEST_F(LanguageDetectorTest, WhatPartsOfSentencesSayIsInNoLanguageWithoutAProfile) {
  std::vector<std::string> wrong;
  size_t parts = 0;
  for (const std::string language : {"en", "pt"}) {
    std::ifstream file(std::string(MILLRACE_TEST_DATA "/../translation/") + language + ".txt");
    for (std::string line; std::getline(file, line);) {
      const std::vector<std::string> words = absl::StrSplit(line, ' ');
      for (size_t i = 0; i + 3 <= words.size(); ++i, ++parts) {
        const std::string text = words[i] + " " + words[i + 1] + " " + words[i + 2];
        const std::string found = Best(text).language;
        if (found == "id" || found == "vi" || found == "et" || found == "eu" || found == "sw")
          wrong.push_back(text + " (" + found + ")");
      }
    }
  }
  ASSERT_GT(parts, 2000U);
  EXPECT_LE(500 * wrong.size(), parts) << ::testing::PrintToString(wrong);
}

TEST_F(LanguageDetectorTest, AddressesCodeAndNamesOfAccountsAreNoWords) {
  for (const char* text :
       {"Veja https://www.theguardian.com/world/this-is-the-latest-news-from-the-house agora",
        "`git commit -m \"fix the bug in the parser\"` corrige o erro",
        "Baixe o app no GitHub: https://github.com/user/repository/releases",
        "@the_house_of_the_rising_sun falou com voc\u00EA #throwbackthursday"}) {
    EXPECT_EQ(Best(text).language, "pt") << text;
  }
}

TEST_F(LanguageDetectorTest, PortugueseWithEnglishWordsStaysPortuguese) {
  for (const char* text :
       {"Eu uso o Windows e o Google Chrome", "Feedback do cliente que veio ontem",
        "O design do site ficou top", "Ele disse 'good morning' para mim",
        "A empresa quer um software melhor", "Fiz o backup do meu computador ontem"}) {
    EXPECT_EQ(Best(text).language, "pt") << text;
  }
  for (const char* text : {"Customer feedback", "The new design of the site", "Online shopping",
                           "I said 'bom dia' to her", "The word saudade is Portuguese"}) {
    EXPECT_EQ(Best(text).language, "en") << text;
  }
}

TEST_F(LanguageDetectorTest, ShortTextsWithWordsOfBothLanguagesAreToldByTheirOrder) {
  EXPECT_EQ(NotTakenFor("pt", {"Radio online", "Motor diesel", "Shopping Center Norte",
                               "Monitor gamer", "Fone bluetooth", "Design gr\u00E1fico",
                               "Area total", "Banana prata", "Hot dog completo", "Commit revertido",
                               "Milk shake de chocolate", "Bike el\u00E9trica", "Iogurte light",
                               "O New York Times publicou", "Tribunal federal"}),
            std::vector<std::string>{});
  EXPECT_EQ(
      NotTakenFor("en", {"Online radio", "Diesel motor", "Gaming monitor",
                         "I love p\u00E3o de queijo.", "Feijoada is delicious", "Caipirinha recipe",
                         "Bossa nova classics", "Regional hospital", "Rural area",
                         "S\u00E3o Paulo subway map", "A trip to Fernando de Noronha"}),
      std::vector<std::string>{});
  EXPECT_EQ(NotTakenFor("en", {"I ragazzi giocano in giardino"}).size(), 1U);
  EXPECT_EQ(NotTakenFor("pt", {"Estoy cansado", "Me gusta el caf\u00E9"}).size(), 2U);
}

TEST_F(LanguageDetectorTest, TagsOfHtmlAreNoWords) {
  const std::string html =
      "<div class='the important button of this page and that'><p title='what is this and where "
      "are they'>merci beaucoup</p><section id='all about the house in the "
      "garden'></section></div>";
  EXPECT_EQ(Best(html).language, "en");
  ASSERT_FALSE(DetectLanguages(html, true).empty());
  EXPECT_EQ(DetectLanguages(html, true).front().language, "fr");
}

TEST_F(LanguageDetectorTest, LongTextIsToldByItsBeginning) {
  std::string text;
  while (text.size() < 40'000) text += "The children were playing in the garden behind the house. ";
  while (text.size() < (1 << 20)) text += "\xC3\xA9t\xC3\xA9 comme hiver, la maison est belle. ";
  const auto found = DetectLanguages(text);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().language, "en");
}

}  // namespace
}  // namespace millrace::models
