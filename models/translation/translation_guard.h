#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/translation/markup/number_format.h"

namespace millrace::translation {

// A translation as the guard sees it. Protected spans must be blanked in both texts.
struct GuardedTranslation {
  std::string_view source;
  std::string_view target;
  std::string_view source_language = {};  // BCP 47
  std::string_view target_language = {};
  std::span<const int32_t> source_tokens;  // without those of the frame
  std::span<const int32_t> target_tokens;
  // The source token of each target token, counted from the first of source_tokens; tokens of the
  // frame are out of range. May be empty.
  std::span<const int32_t> alignment = {};
  size_t frame_before = 0;     // tokens that the alignment counts before source_tokens
  bool is_half = false;        // it is part of a sentence that was divided because it lost content
  bool reached_limit = false;  // the translation was cut because it was too long
  NumberFormats formats = {};
};

// The verdict on a translation: the content that it seems to have lost.
struct GuardVerdict {
  bool suspicious = false;
  // The numbers of the source that are absent and that no word can stand for, and the words in
  // brackets if the brackets are absent, as views into it.
  std::vector<std::string_view> lost_parts = {};
  // True if part of the content seems to be absent: the text loops, is too short, stops early or
  // does not come from some stretch of the source.
  bool lost_content = false;
  // True if a word comes three times in a row, or a letter many times.
  bool loops = false;
  // True if items of a list that words such as "or" join are absent, or one comes twice.
  bool lost_item = false;
  // True if words became a number: 404 for "404 Not Found".
  bool only_number = false;
  // Behind a colon of the source that the translation lacks, where the sentence can be divided; 0
  // if it lacks none.
  size_t lost_colon = 0;
};

// The alignment of a sentence with at least this many tokens is worth its cost to the guard.
inline constexpr size_t kAlignedSentence = 40;

// Looks for signs that a translation lost content: absent numbers, brackets and colons, loops, a
// strange length, fewer commas or words such as "and" than a list has, a missing end mark, and
// stretches of the source that nothing is aligned with. Takes microseconds; linear time.
GuardVerdict InspectTranslation(const GuardedTranslation& translation);

// Returns true if a sentence has what models lose: a list (also one of "or" without commas, and of
// two parts if it is short), numbers, brackets, a colon, more tokens than they manage
// well, or many and no end mark. Its translation should not be sent before it was inspected.
// `source` as in GuardedTranslation.
bool IsEasilyLost(std::string_view source, size_t tokens, std::string_view language);

}  // namespace millrace::translation
