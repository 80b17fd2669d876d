#pragma once

#include <string_view>
#include <vector>

namespace millrace::models {

// A sentence and the white space after it, as views into the text.
struct Sentence {
  std::string_view text;
  std::string_view space;
};

struct SplitOptions {
  std::string_view language = {};  // BCP 47; decides abbreviations and stops; empty: unknown
  bool joins_lines = false;  // a sentence may continue after a line break, as in a wrapped mail
  // As joins_lines, also where lines are short, if the text looks as if it was wrapped: not in
  // lists, headings and verse.
  bool joins_short_lines = false;
};

// Splits UTF-8 text into sentences. The concatenation of text and space of all of them is the
// input, byte for byte; only the first may have an empty text (leading white space). A line break
// ends a sentence unless joins_lines. In European languages a sentence ends with a stop (. ! ? …),
// closing quotes and brackets after it, and white space before something that can start a sentence:
// not after an abbreviation or an initial, and not before a lower-case letter. The stops of
// Chinese, Japanese, Hindi, Urdu, Armenian, Burmese, Khmer and Amharic need no space; Thai, which
// has none, is split at line breaks. Knows the abbreviations of English, French, Hindi, Italian,
// Portuguese and Spanish in any text, and those of other languages (splitting_language.cc) where
// the language is given. Thread-safe; one pass, linear time.
std::vector<Sentence> SplitSentences(std::string_view text, const SplitOptions& options = {});

}  // namespace millrace::models
