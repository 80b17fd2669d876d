#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/text/japanese/japanese_words.h"
#include "models/text/japanese/morphological_analyzer.h"
#include "models/text/phoneme_text.h"

namespace millrace::models {

// Turns Japanese as it is written, in kanji, kana, Latin letters and digits, into the phonemes of
// Kokoro's Japanese voices (misaki's symbols). Characters without a reading, such as a kanji that
// the dictionary does not have, are left out. Thread-safe; linear time.
class JapaneseG2p {
 public:
  // `words` may be empty.
  JapaneseG2p(std::unique_ptr<const MorphologicalAnalyzer> analyzer, JapaneseWords words);

  // InvalidArgument, which names the character and its byte, for letters of other scripts.
  absl::StatusOr<PhonemeText> Phonemize(std::string_view text) const;

 private:
  const std::unique_ptr<const MorphologicalAnalyzer> analyzer_;
  const JapaneseWords words_;
};

}  // namespace millrace::models
