#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "models/core/utf8.h"
#include "models/translation/vocabulary.h"
#include "tests/unit/models/bergamot/tiny_model.h"

namespace millrace::translation {
namespace {

// By decoding all tokens before each.
std::vector<size_t> EndsBySlowWay(const Vocabulary& vocabulary, std::span<const int32_t> tokens) {
  std::vector<size_t> ends;
  const std::string whole = vocabulary.Decode(tokens);
  size_t last = 0;
  for (size_t i = 1; i <= tokens.size(); ++i) {
    last = std::max(last, vocabulary.Decode(tokens.first(i)).size());
    size_t end = std::min(last, whole.size());
    while (end < whole.size() && IsContinuationByte(whole[end])) --end;
    ends.push_back(end);
  }
  return ends;
}

TEST(VocabularyEndsTest, AreThoseOfDecodingAllTokensBefore) {
  const auto loaded =
      Vocabulary::Load(bergamot::TestDataFolder() / "tiny.spm", bergamot::kTinyTokens);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const Vocabulary* const vocabulary = loaded->get();
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<int32_t> tokens(random() % 60);
    // Runs of the same, such as of spaces and of bytes, too.
    for (size_t i = 0; i < tokens.size(); ++i) {
      const bool same = i > 0 && random() % 3 == 0;
      tokens[i] = same ? tokens[i - 1] : static_cast<int32_t>(random() % bergamot::kTinyTokens);
    }
    ASSERT_EQ(vocabulary->EndsOf(tokens), EndsBySlowWay(*vocabulary, tokens));
  }
}

}  // namespace
}  // namespace millrace::translation
