#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::models {

// The symbols that a voice knows: single code points. Without any, everything is allowed.
// Immutable, so thread-safe.
class PhonemeVocabulary {
 public:
  PhonemeVocabulary() = default;
  // UTF-8; every code point of every string counts.
  explicit PhonemeVocabulary(std::span<const std::string> symbols);

  // The first character that is no symbol of it.
  std::optional<std::string> FirstUnknown(std::string_view phonemes) const;

 private:
  std::vector<char32_t> symbols_;  // sorted
};

}  // namespace millrace::models
