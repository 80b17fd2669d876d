#include "models/text/phoneme_vocabulary.h"

#include <algorithm>

#include "models/text/unicode.h"

namespace millrace::models {

PhonemeVocabulary::PhonemeVocabulary(std::span<const std::string> symbols) {
  for (const std::string& symbol : symbols) {
    for (size_t at = 0; at < symbol.size();) {
      const CodePoint c = DecodeAt(symbol, at);
      symbols_.push_back(c.value);
      at += c.bytes;
    }
  }
  std::ranges::sort(symbols_);
}

std::optional<std::string> PhonemeVocabulary::FirstUnknown(std::string_view phonemes) const {
  if (symbols_.empty()) return std::nullopt;
  for (size_t at = 0; at < phonemes.size();) {
    const CodePoint c = DecodeAt(phonemes, at);
    if (!std::ranges::binary_search(symbols_, c.value)) {
      return std::string(phonemes.substr(at, c.bytes));
    }
    at += c.bytes;
  }
  return std::nullopt;
}

}  // namespace millrace::models
