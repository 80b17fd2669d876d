// With the real lexicons: against misaki's own phonemes, and words whose sound hangs on their
// neighbours.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "models/text/english/english_g2p.h"

namespace millrace::models {
namespace {

using List = std::vector<std::string>;

const EnglishG2p& G2p(const std::string& dialect) {
  const auto open = [](const std::string& name) {
    auto lexicon =
        EnglishLexicon::Open(std::string(MILLRACE_LEXICON_FOLDER "/") + name + ".lexicon");
    if (!lexicon.ok()) throw std::runtime_error(lexicon.status().ToString());
    return *std::move(lexicon);
  };
  static const EnglishG2p us(open("en-us"), {});
  static const EnglishG2p gb(open("en-gb"), {});
  return dialect == "us" ? us : gb;
}

std::string SpokenPhonemes(const std::string& text, const std::string& dialect = "us") {
  const auto tokens = G2p(dialect).Phonemize(text);
  return tokens.ok() ? JoinPhonemes(*tokens).phonemes : tokens.status().ToString();
}

List Lines(const std::string& name) {
  std::ifstream file(std::string(MILLRACE_TEST_DATA "/") + name);
  List lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

List PhonemeWords(const std::string& text) {
  std::istringstream stream(text);
  List words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// The length of the longest common subsequence.
size_t Common(const List& a, const List& b) {
  std::vector<size_t> row(b.size() + 1, 0);
  for (const std::string& word : a) {
    size_t diagonal = 0;
    for (size_t i = 1; i <= b.size(); ++i) {
      const size_t above = row[i];
      row[i] = word == b[i - 1] ? diagonal + 1 : std::max(row[i], row[i - 1]);
      diagonal = above;
    }
  }
  return row.back();
}

// In per cent.
double Agreement(const std::string& dialect) {
  const List sentences = Lines("english.txt");
  const List expected = Lines("english.misaki-" + dialect + ".txt");
  EXPECT_GT(sentences.size(), 100U);
  EXPECT_EQ(sentences.size(), expected.size());
  size_t words = 0;
  size_t same = 0;
  for (size_t i = 0; i < std::min(sentences.size(), expected.size()); ++i) {
    const List theirs = PhonemeWords(expected[i]);
    const List ours = PhonemeWords(SpokenPhonemes(sentences[i], dialect));
    words += std::max(theirs.size(), ours.size());
    same += Common(theirs, ours);
  }
  return 100.0 * static_cast<double>(same) / static_cast<double>(words);
}

TEST(EnglishGoldenTest, HeteronymsSoundByWhatTheyAreInTheirSentence) {
  for (const std::string& row : Lines("heteronyms.txt")) {
    const size_t first = row.find('\t');
    const size_t second = row.find('\t', first + 1);
    std::string expected = row.substr(second + 1);
    // In misaki's letters.
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {"aɪ", "I"}, {"aʊ", "W"}, {"oʊ", "O"}, {"dʒ", "ʤ"}, {"ɝ", "ɜɹ"}, {"ɚ", "əɹ"}}) {
      const size_t at = expected.find(from);
      if (at != std::string::npos) expected.replace(at, from.size(), to);
    }
    std::string spoken = SpokenPhonemes(row.substr(0, first));
    for (const std::string mark : {"ˈ", "ˌ", "ː"}) {
      for (size_t at = 0; (at = spoken.find(mark)) != std::string::npos;)
        spoken.erase(at, mark.size());
    }
    EXPECT_NE(spoken.find(expected), std::string::npos) << row << " is " << spoken;
  }
}

// The rest are heteronyms, which the tagger of the reference does not tell apart, words that it
// does not know, and years, sums and units that are read differently on purpose.
TEST(EnglishGoldenTest, AgreesWithMisaki) {
  const double us = Agreement("us");
  const double gb = Agreement("gb");
  std::cout << "words as misaki speaks them: en-us " << us << " %, en-gb " << gb << " %\n";
  EXPECT_GE(us, 94.0);
  EXPECT_GE(gb, 93.0);
}

struct GoldenCase {
  const char* text;
  const char* spoken;
};
void PrintTo(const GoldenCase& value, std::ostream* out) { *out << '"' << value.text << '"'; }

class HeteronymTest : public testing::TestWithParam<GoldenCase> {};
TEST_P(HeteronymTest, IsTakenFromItsNeighbours) {
  EXPECT_EQ(SpokenPhonemes(GetParam().text), GetParam().spoken);
}

INSTANTIATE_TEST_SUITE_P(
    English, HeteronymTest,
    testing::Values(GoldenCase{"I have read it.", "ˌI hæv ɹˈɛd ɪt."},
                    GoldenCase{"Please read it.", "plˈiz ɹˈid ɪt."},
                    GoldenCase{"He read it yesterday.", "hˌi ɹˈɛd ɪt jˈɛstəɹdˌA."},
                    GoldenCase{"to record the record", "tə ɹəkˈɔɹd ðə ɹˈɛkəɹd"},
                    GoldenCase{"They live here.", "ðˌA lˈɪv hˈɪɹ."},
                    GoldenCase{"a live show", "ɐ lˈIv ʃˈO"},
                    GoldenCase{"Close the door.", "klˈOz ðə dˈɔɹ."},
                    GoldenCase{"a close friend", "ɐ klˈOs fɹˈɛnd"},
                    GoldenCase{"It is close.", "ˌɪt ɪz klˈOs."},
                    GoldenCase{"what is the use of it", "wˌʌt ɪz ðə jˈus ʌv ɪt"},
                    GoldenCase{"You can use it.", "jˌu kæn jˈuz ɪt."},
                    GoldenCase{"I object to the object.", "ˌI əbʤˈɛkt tə ði ˈɑbʤəkt."},
                    GoldenCase{"We must present the present.", "wˌi mˈʌst pɹizˈɛnt ðə pɹˈɛzᵊnt."},
                    GoldenCase{"The wind will wind it.", "ðə wˈɪnd wɪl wˈInd ɪt."},
                    GoldenCase{"a lead pipe will lead", "ɐ lˈɛd pˈIp wɪl lˈid"},
                    GoldenCase{"I used to use what was used.", "ˌI jˈust tə jˈuz wˌʌt wʌz jˈuzd."},
                    GoldenCase{"Separate the separate parts.", "sˈɛpəɹˌAt ðə sˈɛpəɹət pˈɑɹts."},
                    GoldenCase{"a minute later", "ɐ mˈɪnət lˈATəɹ"},
                    GoldenCase{"a learned man learned it", "ɐ lˈɜɹnɪd mˈæn lˈɜɹnd ɪt"}));

TEST(EnglishGoldenTest, ReadsNumbersAndAbbreviationsAloud) {
  EXPECT_EQ(SpokenPhonemes("Dr. Smith paid $3.50 at 5pm."),
            "dˈɑktəɹ smˈɪθ pˈAd θɹˈi dˈɑləɹz ænd fˈɪfti sˈɛnts æt fˈIv pˌiˈɛm.");
  EXPECT_EQ(SpokenPhonemes("NASA, the BBC and the U.S."), "nˈæsə, ðə bˌibˌisˈi ænd ðə jˌuˈɛs.");
  EXPECT_EQ(SpokenPhonemes("IT is a job for the IT team."), "ˌItˈi ɪz ɐ ʤˈɑb fɔɹ ði ˌItˈi tˈim.");
  EXPECT_EQ(SpokenPhonemes("THE END IS NEAR."), "ði ˈɛnd ɪz nˈɪɹ.");
}

TEST(EnglishGoldenTest, BritishEnglishHasItsOwnSounds) {
  EXPECT_EQ(SpokenPhonemes("The bath water is over there.", "gb"), "ðə bˈɑːθ wˈɔːtə ɪz ˈQvə ðˈɛː.");
  EXPECT_EQ(SpokenPhonemes("starring", "gb"), "stˈɑːɹɪŋ");
}

TEST(EnglishGoldenTest, EverySymbolIsOneThatKokoroKnows) {
  const List symbols = {
      "ABDEGIJLOQSTWYabdefhijklmnopqrstuvwxyzɑɐɒæɔəɛɜɡɪŋɹɾʃʊʌʒʤʧˈˌːθᵊᵻð;:,.!?—…\"()“” "};
  const PhonemeVocabulary vocabulary(symbols);
  for (const char* dialect : {"us", "gb"}) {
    for (const std::string& sentence : Lines("english.txt")) {
      const std::string spoken = SpokenPhonemes(sentence, dialect);
      EXPECT_EQ(vocabulary.FirstUnknown(spoken), std::nullopt) << sentence << ": " << spoken;
    }
  }
}

}  // namespace
}  // namespace millrace::models
