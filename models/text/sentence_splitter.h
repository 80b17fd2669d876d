#pragma once

#include <string_view>
#include <vector>

namespace millrace::models {

// A sentence and the white space behind it: views into the text that was split.
struct Sentence {
  std::string_view text;
  std::string_view space;
};

struct SplitOptions {
  std::string_view language = {};  // BCP 47, whose abbreviations and stops count; empty: unknown
  bool joins_lines = false;        // a sentence may go on behind a line break, as in a wrapped mail
};

// Splits UTF-8 text into sentences. Concatenating text and space of all of them gives the input
// back, byte for byte; only the first may have an empty text (white space that leads). A line break
// ends a sentence, but for joins_lines. For European languages a sentence ends with a stop (. ! ?
// …), the quotes and brackets that close behind it, and white space before something that can start
// a sentence: not after an abbreviation or an initial, and not before a small letter. The stops of
// Chinese, Japanese, Hindi, Urdu, Armenian, Burmese, Khmer and Amharic need no space; Thai, which
// has none, is split at line breaks. Knows the abbreviations of English, French, Hindi, Italian,
// Portuguese and Spanish in any text, those of other languages (splitting_language.cc) where the
// language is given. Thread-safe; one pass, time linear in the text.
std::vector<Sentence> SplitSentences(std::string_view text, const SplitOptions& options = {});

}  // namespace millrace::models
