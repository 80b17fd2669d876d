#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "models/text/unicode.h"
#include "models/translation/vocabulary.h"
#include "tests/unit/models/bergamot/tiny_model.h"

namespace millrace::translation {
namespace {

// By decoding all words before each.
std::vector<size_t> EndsBySlowWay(const Vocabulary& vocabulary, std::span<const int32_t> words) {
  std::vector<size_t> ends;
  const std::string whole = vocabulary.Decode(words);
  size_t last = 0;
  for (size_t i = 1; i <= words.size(); ++i) {
    last = std::max(last, vocabulary.Decode(words.first(i)).size());
    size_t end = std::min(last, whole.size());
    while (end < whole.size() && models::IsContinuationByte(whole[end])) --end;
    ends.push_back(end);
  }
  return ends;
}

TEST(VocabularyEnds, AreThoseOfDecodingAllWordsBefore) {
  std::string error;
  const auto vocabulary =
      Vocabulary::Load(bergamot::TestDataFolder() / "tiny.spm", bergamot::kTinyWords, error);
  ASSERT_NE(vocabulary, nullptr) << error;
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<int32_t> words(random() % 60);
    // Runs of the same, such as of spaces and of bytes, too.
    for (size_t i = 0; i < words.size(); ++i) {
      const bool same = i > 0 && random() % 3 == 0;
      words[i] = same ? words[i - 1] : static_cast<int32_t>(random() % bergamot::kTinyWords);
    }
    ASSERT_EQ(vocabulary->EndsOf(words), EndsBySlowWay(*vocabulary, words));
  }
}

}  // namespace
}  // namespace millrace::translation
