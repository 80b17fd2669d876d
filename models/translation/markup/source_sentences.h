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

// A sentence as a model reads it: what must survive has become stand-ins, which models copy.
struct SourceSentence {
  MarkedText marked;
  std::string behind;  // what stands between it and the next; not translated
  // Whether its translation is put out word by word as it comes: Restore has nothing to do.
  bool is_plain = true;
  bool has_words = true;  // besides what is kept
};

// A sentence that a model has translated, for another to go on with.
struct TranslatedSentence final : models::PivotSentence {
  TranslatedSentence(MarkedText marked, std::string behind)
      : marked(std::move(marked)), behind(std::move(behind)) {}

  const MarkedText marked;
  const std::string behind;  // as SourceSentence::behind
};

// Takes the first `bytes` bytes of a sentence's text off its front, and the white space behind
// them; a few more, or less, so that no stand-in is divided.
SourceSentence TakeFront(SourceSentence& sentence, size_t bytes);

// The sentences of a text. Putting out each Untouched, with what is behind it, gives the text back
// byte for byte. The first may be empty, others not; one of more than 16 KiB is cut. What has no
// words, or is longer than any word, is not for the model; what the alphabet lacks survives as what
// is protected does. Linear time.
std::vector<SourceSentence> ReadSentences(std::string_view text, models::TextFormat format,
                                          std::string_view language, const models::TermIndex& terms,
                                          Alphabet alphabet = KnowsAll);
// The same of what a model has translated: its markup is not read again.
std::vector<SourceSentence> ReadSentences(const TranslatedSentence& translated,
                                          std::string_view language, const models::TermIndex& terms,
                                          Alphabet alphabet = KnowsAll);

}  // namespace millrace::translation
