// With the real espeak-ng, against misaki.

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/multilingual/espeak_g2p.h"
#include "models/text/multilingual/espeak_language.h"
#include "tests/fakes/needed.h"

namespace millrace::models {
namespace {

const EspeakG2p& G2p(const std::string& tag) {
  static std::map<std::string, std::unique_ptr<EspeakG2p>> all;
  std::unique_ptr<EspeakG2p>& g2p = all[tag];
  if (g2p == nullptr) {
    EspeakG2p::Options options;
    options.espeak.program = MILLRACE_ESPEAK;
    options.voice = FindEspeakLanguage(tag)->voice;
    options.espeak.timeout = std::chrono::seconds(30);
    g2p = *EspeakG2p::Create(options);
  }
  return *g2p;
}

std::string Spoken(const std::string& tag, const std::string& text) {
  const auto read = G2p(tag).Phonemize(text, false);
  return read.ok() ? read->phonemes : read.status().ToString();
}

// Such as "1.51".
std::string InstalledVersion() {
  FILE* pipe = popen(MILLRACE_ESPEAK " --version", "r");
  if (pipe == nullptr) return "";
  std::string about;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) about += static_cast<char>(c);
  pclose(pipe);
  constexpr std::string_view kBefore = "text-to-speech: ";
  const size_t begin = about.find(kBefore);
  if (begin == std::string::npos) return "";
  const size_t version = begin + kBefore.size();
  return about.substr(version, about.find(' ', version) - version);
}

TEST(MultilingualGoldenTest, PhonemesAreMisakis) {
  std::ifstream file(MILLRACE_TEST_DATA "/multilingual.misaki.txt");
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  const std::string version = line.substr(line.find(' ') + 1);
  // The pronunciations of some words differ from one to the next, so that elsewhere the golden file
  // says nothing: where changes are gated, it is to be made anew.
  const std::string installed = InstalledVersion();
  MILLRACE_NEEDS(installed == version, "espeak-ng " << installed << " is not " << version
                                                    << ": run make_misaki_golden.py");
  std::map<std::string, int> sentences;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string tag;
    std::string text;
    std::string phonemes;
    std::getline(std::getline(std::getline(fields, tag, '\t'), text, '\t'), phonemes);
    EXPECT_EQ(Spoken(tag, text), phonemes) << text;
    ++sentences[tag];
  }
  EXPECT_EQ(sentences.size(), kEspeakLanguages.size());
  for (const auto& [tag, count] : sentences) EXPECT_GE(count, 20) << tag;
}

TEST(MultilingualGoldenTest, WordsAreFoundAlsoWhereTheyAreJoinedOrSeveral) {
  const auto words = [](const std::string& tag, const std::string& text) {
    const auto read = G2p(tag).Phonemize(text, true);
    EXPECT_TRUE(read.ok()) << read.status();
    std::vector<std::string> found;
    for (const PhonemeWord& word : read->words) {
      EXPECT_LT(word.phonemes_begin, word.phonemes_end);
      found.push_back(text.substr(word.begin, word.end - word.begin));
    }
    return found;
  };
  using List = std::vector<std::string>;
  EXPECT_EQ(words("es", "¿El Sr. Pérez compró 1.500 manzanas?"),
            (List{"El", "Sr", "Pérez", "compró", "1.500", "manzanas"}));
  EXPECT_EQ(words("fr-FR", "« Les amis », dit-elle, à 12:30 !"),
            (List{"Les", "amis", "dit-elle", "à", "12:30"}));
  EXPECT_EQ(words("hi", "मैं दिल्ली में रहता हूँ।"), (List{"मैं", "दिल्ली", "में", "रहता", "हूँ"}));
  EXPECT_EQ(words("it", "Un po' d'acqua, per favore."),
            (List{"Un", "po", "d'acqua", "per", "favore"}));
  EXPECT_EQ(words("pt-BR", "Três milhões de limões."), (List{"Três", "milhões", "de", "limões"}));
}

}  // namespace
}  // namespace millrace::models
