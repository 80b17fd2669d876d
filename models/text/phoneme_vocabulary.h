#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::models {

// The symbols that a voice knows, which are single code points. An empty vocabulary allows
// everything. Immutable, so thread-safe.
class PhonemeVocabulary {
 public:
  PhonemeVocabulary() = default;
  // Every code point of the UTF-8 strings is a symbol.
  explicit PhonemeVocabulary(std::span<const std::string> symbols);

  // Returns the first character that is not in the vocabulary.
  std::optional<std::string> FirstUnknown(std::string_view phonemes) const;

 private:
  std::vector<char32_t> symbols_;  // sorted
};

}  // namespace millrace::models
