// The phonemes that both kinds of voices are given, with the real lexicon and espeak-ng.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/text/english/english_g2p.h"
#include "models/text/english/espeak_fallback.h"
#include "models/text/english/respelled_text.h"
#include "models/text/phonemizer.h"
#include "models/text/sentence_splitter.h"

namespace millrace::models {
namespace {

struct SpokenRow {
  std::string text;
  std::string kokoro;
  std::string piper;
};

// Reads rows of a text, its words and the phonemes of both voices, separated by tabs.
std::vector<SpokenRow> ReadSpokenRows() {
  std::ifstream stream(MILLRACE_TEST_DATA "/english_voices.txt");
  std::vector<SpokenRow> rows;
  for (std::string line; std::getline(stream, line);) {
    std::vector<std::string> cells(1);
    for (const char c : line) {
      if (c == '\t') {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    if (cells.size() != 4) {
      ADD_FAILURE() << line;
      continue;
    }
    rows.push_back({cells[0], cells[2], cells[3]});
  }
  return rows;
}

TEST(EnglishVoicesTest, TextsAreReadAsPeopleReadThem) {
  auto lexicon = EnglishLexicon::Open(MILLRACE_LEXICON_FOLDER "/en-us.lexicon");
  ASSERT_TRUE(lexicon.ok()) << lexicon.status();
  auto fallback = EspeakFallback::Create({.dialect = EnglishDialect::kUs});
  ASSERT_TRUE(fallback.ok()) << fallback.status();
  const auto phonemizer = Phonemizer::Create({.voice = "en-us"});
  ASSERT_TRUE(phonemizer.ok()) << phonemizer.status();
  EnglishG2p::Options options;
  options.fallback = *std::move(fallback);
  const EnglishG2p g2p(*std::move(lexicon), std::move(options));
  const TextNormalizer normalizer(EnglishDialect::kUs);
  const std::vector<SpokenRow> rows = ReadSpokenRows();
  ASSERT_GE(rows.size(), 1000U);
  for (const SpokenRow& row : rows) {
    std::string kokoro;
    std::string piper;
    for (const Sentence& sentence : SplitSentences(row.text, {.joins_short_lines = true})) {
      const auto tokens = g2p.Phonemize(sentence.text);
      ASSERT_TRUE(tokens.ok()) << row.text << ": " << tokens.status();
      const RespelledText respelled = RespellForEspeak(normalizer, sentence.text);
      const auto phonemes = (*phonemizer)->Phonemize(respelled.text, /*has_phonemes=*/true);
      ASSERT_TRUE(phonemes.ok()) << row.text << ": " << phonemes.status();
      const std::string_view divider = kokoro.empty() && piper.empty() ? "" : " || ";
      kokoro += std::string(divider) + JoinPhonemes(*tokens).phonemes;
      piper += std::string(divider) + *phonemes;
    }
    EXPECT_EQ(kokoro, row.kokoro) << row.text;
    EXPECT_EQ(piper, row.piper) << row.text;
  }
}

}  // namespace
}  // namespace millrace::models
