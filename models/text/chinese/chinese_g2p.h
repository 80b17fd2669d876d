#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/text/chinese/chinese_lexicon.h"
#include "models/text/phoneme_text.h"
#include "models/text/word_fallback.h"

namespace millrace::models {

// Turns Chinese in characters, simplified or traditional, Latin letters and digits into the
// phonemes of Kokoro's Chinese voices: misaki's symbols of version 1.0, where a tone is an arrow
// behind its syllable and that of the lexicon, or those of version 1.1, where it is a digit and the
// one that is spoken in company. Words in Latin letters are English ones, except for abbreviations
// in capitals, which are spelled. Characters without a reading are left out.
// Thread-safe; linear time.
class ChineseG2p {
 public:
  // english: pronounces the words in Latin letters; they are spelled where it is null.
  explicit ChineseG2p(ChineseLexicon lexicon,
                      std::shared_ptr<const WordFallback> english = nullptr);

  // InvalidArgument, which names the character and its byte, for letters of other scripts, or the
  // error of `english`.
  absl::StatusOr<PhonemeText> Phonemize(std::string_view text) const;

 private:
  const ChineseLexicon lexicon_;
  const std::shared_ptr<const WordFallback> english_;
};

}  // namespace millrace::models
