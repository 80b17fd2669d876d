// Looks for texts that reading and restoring markup damages.
//
// usage: markup_fuzz [-max_total_time=60] tests/fuzz/seeds/markup

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "models/core/utf8.h"
#include "models/text/unicode.h"
#include "models/translation/markup/restore.h"
#include "models/translation/markup/source_sentences.h"
#include "tests/fuzz/require.h"

namespace millrace::models {
namespace {

// Returns the text without the marks of accelerator keys, which go before their words: Sa&ve.
std::string WithoutKeys(std::string text) {
  std::erase_if(text, [](char c) { return c == '&' || c == '_'; });
  return text;
}

void TryFormat(std::string_view text, TextFormat format) {
  std::string untouched;
  for (translation::SourceSentence& sentence : translation::ReadSentences(text, format, "en", {})) {
    const size_t tags =
        static_cast<size_t>(std::ranges::count(translation::Untouched(sentence.marked), '{'));
    // A model that copies, and one that says nothing.
    const std::string copied = translation::Restore(sentence.marked, sentence.marked.text, {});
    Require(static_cast<size_t>(std::ranges::count(copied, '{')) == tags, "lost a brace");
    translation::Restore(sentence.marked, "", {});
    while (sentence.marked.text.size() > 16) {
      // A model's limit is never inside a character.
      size_t bytes = 16;
      while (IsContinuationByte(sentence.marked.text[bytes])) --bytes;
      const translation::SourceSentence front = translation::TakeFront(sentence, bytes);
      untouched += translation::Untouched(front.marked) + front.behind;
    }
    untouched += translation::Untouched(sentence.marked) + sentence.behind;
  }
  Require(untouched.size() == text.size() &&
              WithoutKeys(std::move(untouched)) == WithoutKeys(std::string(text)),
          "not byte for byte");
}

}  // namespace
}  // namespace millrace::models

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  using millrace::models::TextFormat;
  // Requests with other bytes are refused.
  if (!millrace::models::IsValidUtf8(text)) return 0;
  for (const TextFormat format : {TextFormat::kText, TextFormat::kHtml, TextFormat::kMarkdown})
    millrace::models::TryFormat(text, format);
  return 0;
}
