#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/core/payload.h"
#include "models/text/term_index.h"
#include "models/translation/markup/alphabet.h"
#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// A sentence as a model reads it: protected spans are stand-ins, which models copy.
struct SourceSentence {
  MarkedText marked;
  std::string behind;  // the text up to the next sentence, which is not translated
  // The source of a sentence of which a model reads a part as other words, else empty.
  std::string written;
  // True if Restore has nothing to do, so that the translation can be sent word by word.
  bool is_plain = true;
  // True if it has no marks and no spans that are kept, so that it may be read in other words.
  bool is_bare = true;
  bool has_words = true;  // it has words besides kept spans
};

// A sentence that the first model of a pivot has translated, as the input of the second.
struct TranslatedSentence final : models::PivotSentence {
  TranslatedSentence(MarkedText marked, std::string behind)
      : marked(std::move(marked)), behind(std::move(behind)) {}

  const MarkedText marked;
  const std::string behind;  // as SourceSentence::behind
};

// Returns what stands for a sentence that is not translated.
MarkedText CopyOf(const SourceSentence& sentence);

// Takes the first `bytes` bytes and the white space after them off a sentence. Takes a few bytes
// more or fewer where a stand-in would be divided.
SourceSentence TakeFront(SourceSentence& sentence, size_t bytes);

// Returns the sentences of a text. Untouched and `behind` of all sentences, concatenated, are the
// text byte for byte, but for the separators of kept sums where a target language is given, and for
// the marks of accelerator keys, which go before their words. The first may be empty, and those
// that have the markup before others; a sentence of more than 16 KiB is cut. Strings that are too
// long for a word, and characters that the alphabet lacks, are kept like protected spans. Linear
// time.
std::vector<SourceSentence> ReadSentences(std::string_view text, models::TextFormat format,
                                          std::string_view language, const models::TermIndex& terms,
                                          Alphabet alphabet = KnowsAll,
                                          std::string_view target_language = {});
// Returns the sentences of a translated sentence, whose markup is not read again.
std::vector<SourceSentence> ReadSentences(const TranslatedSentence& translated,
                                          std::string_view language, const models::TermIndex& terms,
                                          Alphabet alphabet = KnowsAll,
                                          std::string_view target_language = {});

}  // namespace millrace::translation
