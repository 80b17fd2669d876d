// Looks for texts of which the front ends of speech make words, characters or sentences that do
// not come from the text, or come from it in another order.
//
// usage: spoken_text_fuzz [-max_total_time=60] tests/fuzz/seeds/spoken_text

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "models/text/chinese/chinese_text.h"
#include "models/text/english/text_normalizer.h"
#include "models/text/japanese/prepared_text.h"
#include "models/text/sentence_splitter.h"
#include "models/text/unicode.h"
#include "tests/fuzz/require.h"

namespace millrace::models {
namespace {

void CheckEnglish(std::string_view text, EnglishDialect dialect) {
  const TextNormalizer normalizer(dialect);
  size_t at = 0;
  for (const SpokenWord& word : normalizer.Normalize(text)) {
    Require(IsValidUtf8(word.text) && IsValidUtf8(word.after), "a word is not UTF-8");
    Require(word.begin >= at && word.end >= word.begin && word.end <= text.size(),
            "a word is at a wrong place");
    at = word.begin;
  }
}

// Written is a text with the places that its characters come from.
template <typename Written>
void CheckCharacters(const Written& written, std::string_view source) {
  Require(written.begins.size() == written.text.size(), "characters without a begin");
  Require(written.ends.size() == written.text.size(), "characters without an end");
  size_t at = 0;
  for (size_t i = 0; i < written.text.size(); ++i) {
    Require(written.begins[i] >= at && written.ends[i] >= written.begins[i] &&
                written.ends[i] <= source.size(),
            "a character is at a wrong place");
    at = written.begins[i];
  }
}

void CheckSentences(std::string_view text) {
  std::string whole;
  for (const Sentence& sentence : SplitSentences(text)) {
    whole += sentence.text;
    whole += sentence.space;
  }
  Require(whole == text, "the sentences are not the text");
}

}  // namespace
}  // namespace millrace::models

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace millrace::models;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Requests with other bytes are refused.
  if (!IsValidUtf8(text)) return 0;
  CheckSentences(text);
  CheckEnglish(text, EnglishDialect::kUs);
  CheckEnglish(text, EnglishDialect::kGb);
  const auto chinese = WriteChineseOut(text);
  millrace::Require(chinese.ok() == CheckChinese(text).ok(), "the checks of Chinese differ");
  if (chinese.ok()) CheckCharacters(*chinese, text);
  const auto japanese = PrepareJapanese(text);
  millrace::Require(japanese.ok() == CheckJapanese(text).ok(), "the checks of Japanese differ");
  if (japanese.ok()) {
    CheckCharacters(*japanese, text);
    size_t at = 0;
    for (const PreparedText::Reading& reading : japanese->readings) {
      millrace::Require(reading.begin >= at && reading.end > reading.begin, "readings overlap");
      at = reading.end;
    }
    millrace::Require(at <= japanese->text.size(), "a reading behind the text");
  }
  return 0;
}
