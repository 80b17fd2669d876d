#pragma once

#include <string_view>
#include <vector>

namespace millrace::models {

// A sentence and the white space behind it: views into the text that was split.
struct Sentence {
  std::string_view text;
  std::string_view space;
};

// Splits UTF-8 text into sentences. Concatenating text and space of all of them gives the input
// back, byte for byte; only the first may have an empty text (white space that leads). A line break
// always ends a sentence. For European languages a sentence ends with a stop (. ! ? …), the quotes
// and brackets that close behind it, and white space before something that can start a sentence:
// not after an abbreviation or an initial, and not before a small letter. A Chinese or Japanese
// stop, and the danda of Hindi, need no space. Knows the abbreviations of English, French, Hindi,
// Italian, Portuguese and Spanish. Thread-safe; one pass, time linear in the text.
std::vector<Sentence> SplitSentences(std::string_view text);

}  // namespace millrace::models
