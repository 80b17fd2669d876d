#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/text/phoneme_vocabulary.h"

namespace millrace::models {

// A piece of a text: plain, or with the pronunciation that its author gave it.
struct TextSegment {
  std::string_view text;
  size_t begin = 0;           // byte of the whole text
  std::string_view phonemes;  // empty: plain
};

// The longest pronunciation that may be written into a text.
inline constexpr size_t kMaxInlinePhonemeBytes = 512;

// Splits a text at its pronunciations, which are written as in "[Kokoro](/kˈOkəɹO/)". Other
// brackets are plain text. Returns InvalidArgument, naming the byte where it begins, for a
// pronunciation that does not end, is empty or too long, or has phonemes (named by the symbol) that
// are not in the vocabulary. Thread-safe; linear time; the segments are views into the text.
absl::StatusOr<std::vector<TextSegment>> SplitInlinePronunciations(
    std::string_view text, const PhonemeVocabulary& vocabulary);

}  // namespace millrace::models
