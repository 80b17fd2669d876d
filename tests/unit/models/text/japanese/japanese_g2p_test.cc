#include "models/text/japanese/japanese_g2p.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fakes/linear_time.h"
#include "fakes/temporary_folder.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

std::unique_ptr<const JapaneseG2p> MakeG2p(JapaneseWords words = {}) {
  auto analyzer = MorphologicalAnalyzer::Open();
  if (!analyzer.ok()) {
    ADD_FAILURE() << analyzer.status();
    return nullptr;
  }
  return std::make_unique<const JapaneseG2p>(*std::move(analyzer), std::move(words));
}

class JapaneseG2pTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { g2p_ = MakeG2p().release(); }
  static void TearDownTestSuite() { delete std::exchange(g2p_, nullptr); }
  void SetUp() override { ASSERT_NE(g2p_, nullptr); }

  static std::string Spoken(std::string_view text) {
    const auto phonemes = g2p_->Phonemize(text);
    return phonemes.ok() ? phonemes->phonemes : phonemes.status().ToString();
  }

  static const JapaneseG2p* g2p_;
};
const JapaneseG2p* JapaneseG2pTest::g2p_ = nullptr;

TEST_F(JapaneseG2pTest, ReadsTheSentencesOfTheGoldenFile) {
  std::ifstream file(MILLRACE_TEST_DATA "/japanese.ipadic.txt");
  size_t sentences = 0;
  for (std::string line; std::getline(file, line); ++sentences) {
    const size_t tab = line.find('\t');
    ASSERT_NE(tab, std::string::npos) << line;
    EXPECT_EQ(Spoken(line.substr(0, tab)), line.substr(tab + 1)) << line;
  }
  EXPECT_GE(sentences, 40U);
}

TEST_F(JapaneseG2pTest, ParticlesAreSpokenByTheirPartOfSpeech) {
  EXPECT_EQ(Spoken("母は花を見て、部屋へ帰る。"), "haha βa hana o mʲi te, heja e kaeɾɯ.");
}

TEST_F(JapaneseG2pTest, WordsKnowTheirBytesInTheText) {
  const std::string text = "ＡＢを　３本、東京で。";
  const auto spoken = g2p_->Phonemize(text);
  ASSERT_TRUE(spoken.ok()) << spoken.status();
  std::vector<std::string> words;
  for (const PhonemeWord& word : spoken->words) {
    words.push_back(
        text.substr(word.begin, word.end - word.begin) + "=" +
        spoken->phonemes.substr(word.phonemes_begin, word.phonemes_end - word.phonemes_begin));
  }
  EXPECT_EQ(words, (std::vector<std::string>{"ＡＢ=eːbʲiː", "を=o", "３本=saɴ boɴ", "東京=toːkʲoː",
                                             "で=de"}));
}

TEST_F(JapaneseG2pTest, FormsOfCharactersSoundAlike) {
  EXPECT_EQ(Spoken("ﾃﾞｰﾀを見る"), Spoken("データを見る"));
  EXPECT_EQ(Spoken("100㎏と①"), Spoken("100kgと1"));
  EXPECT_EQ(Spoken("か\xE3\x82\x99 漢字"), Spoken("が漢字"));
  EXPECT_EQ(Spoken("café本"), Spoken("cafe本"));
}

TEST_F(JapaneseG2pTest, WhatHasNoReadingIsLeftOut) {
  EXPECT_EQ(Spoken("☆東京♪😀"), "toːkʲoː");
  EXPECT_EQ(Spoken("☆♪"), "");
  EXPECT_EQ(Spoken(""), "");
}

TEST_F(JapaneseG2pTest, LettersOfOtherScriptsAreNamedWithTheirPlace) {
  const auto refused = g2p_->Phonemize("東京のДом");
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.status().message(),
            "text: the character 'Д' at byte 9 is Cyrillic text, which is not read in Japanese; "
            "write it in kanji or kana");
  EXPECT_NE(Spoken("東京\xFF").find("byte 6 is not UTF-8"), std::string::npos);
}

TEST_F(JapaneseG2pTest, AWordOfTheListIsSpokenWithoutABreak) {
  const millrace::testing::TemporaryFolder folder;
  std::ofstream(folder.path() / "words") << "六時\n食べました\n";
  auto words = JapaneseWords::Open(folder.path() / "words");
  ASSERT_TRUE(words.ok()) << words.status();
  const auto joining = MakeG2p(*std::move(words));
  EXPECT_EQ(Spoken("六時に食べました。"), "ɾokɯ ʥi ɲi tabe maɕi ta.");
  EXPECT_EQ(joining->Phonemize("六時に食べました。")->phonemes, "ɾokɯʥi ɲi tabemaɕita.");
}

std::string RandomText(std::mt19937& random) {
  // Ranges with kana, kanji, digits, signs, Latin, forms of width, and anything at all.
  constexpr std::pair<char32_t, char32_t> kRanges[] = {
      {0x3041, 0x309F}, {0x30A0, 0x30FF}, {0x4E00, 0x9FFF},   {'0', '9'},
      {0x20, 0x7E},     {0xFF01, 0xFFEF}, {0x3000, 0x303F},   {0x2000, 0x2BFF},
      {0x3200, 0x33FF}, {0xF900, 0xFAFF}, {0x20000, 0x2A6DF}, {1, 0x2FF}};
  constexpr std::u32string_view kCommon =
      U"一二三十百千万億〇年月日時分本人円の、。1234567890-:/.,%¥$";
  std::string text;
  const size_t length = random() % 40;
  for (size_t i = 0; i < length; ++i) {
    if (random() % 2 == 0) {
      text += EncodeUtf8(kCommon[random() % kCommon.size()]);
    } else {
      const auto& [first, last] = kRanges[random() % std::size(kRanges)];
      text += EncodeUtf8(first + random() % (last - first + 1));
    }
  }
  return text;
}

TEST_F(JapaneseG2pTest, AnyTextHasWordsInOrderWithinIt) {
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same texts in each run
  size_t spoken_texts = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string text = RandomText(random);
    const auto spoken = g2p_->Phonemize(text);
    if (!spoken.ok()) {
      ASSERT_EQ(spoken.status().code(), absl::StatusCode::kInvalidArgument) << text;
      continue;
    }
    ++spoken_texts;
    size_t before = 0;
    size_t phonemes_before = 0;
    for (const PhonemeWord& word : spoken->words) {
      ASSERT_LE(before, word.begin) << text;
      ASSERT_LT(word.begin, word.end) << text;
      ASSERT_LE(word.end, text.size()) << text;
      ASSERT_LE(phonemes_before, word.phonemes_begin) << text;
      ASSERT_LT(word.phonemes_begin, word.phonemes_end) << text;
      ASSERT_LE(word.phonemes_end, spoken->phonemes.size()) << text;
      before = word.end;
      phonemes_before = word.phonemes_end;
    }
  }
  EXPECT_GT(spoken_texts, 5'000U);
}

TEST_F(JapaneseG2pTest, ThreadsShareOne) {
  const std::string text = "今日は三本の傘を買って、学校へ行きました。";
  const std::string expected = Spoken(text);
  std::vector<int> same(4);
  {
    std::vector<std::jthread> threads;
    for (int& count : same) {
      threads.emplace_back([&text, &expected, &count] {
        for (int i = 0; i < 200; ++i) count += Spoken(text) == expected ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(same, std::vector<int>(4, 200));
}

TEST_F(JapaneseG2pTest, TakesLinearTime) {
  for (const std::string piece : {"今日は三本の傘を", "12", "Ab", "一億", "☆"})
    ExpectLinearTime(piece, 40'000, [](const std::string& text) { Spoken(text); });
}

TEST(MorphologicalAnalyzerTest, WithoutADictionarySaysWhatToInstall) {
  const char* const before = std::getenv("MECABRC");
  const std::string old = before == nullptr ? "" : before;
  setenv("MECABRC", "/no/such/mecabrc", 1);
  const auto analyzer = MorphologicalAnalyzer::Open();
  if (before == nullptr) {
    unsetenv("MECABRC");
  } else {
    setenv("MECABRC", old.c_str(), 1);
  }
  EXPECT_EQ(analyzer.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(analyzer.status().message().find("Japanese with kanji needs a MeCab dictionary"),
            std::string_view::npos)
      << analyzer.status();
  EXPECT_NE(analyzer.status().message().find("install mecab-ipadic-utf8"), std::string_view::npos);
}

}  // namespace
}  // namespace millrace::models
