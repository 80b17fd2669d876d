#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/core/espeak_options.h"
#include "models/text/phoneme_text.h"
#include "models/text/phoneme_vocabulary.h"

namespace millrace::models {

class EspeakPool;

// Turns text of one language into phonemes in misaki's symbols, on which Kokoro voices were
// trained, by espeak-ng, which runs as a separate program. A word may have its pronunciation beside
// it, as in "[tomate](/tomˈate/)". Thread-safe; about 1 ms for a sentence, or 3 ms with the
// positions of words.
class EspeakG2p {
 public:
  struct Options {
    EspeakOptions espeak = {};
    std::string voice;             // espeak-ng's name, such as "fr-fr"
    PhonemeVocabulary vocabulary;  // for pronunciations in the text
  };

  // Tests espeak-ng with one word. Returns FailedPrecondition, naming what to install, when the
  // program or its voice is missing.
  static absl::StatusOr<std::unique_ptr<EspeakG2p>> Create(Options options);
  ~EspeakG2p();

  // Converts one sentence in UTF-8. The result has words only if they are asked for, and is empty
  // if nothing is spoken. Returns InvalidArgument like SplitInlinePronunciations, and Unavailable
  // when espeak-ng fails.
  absl::StatusOr<PhonemeText> Phonemize(std::string_view sentence, bool with_words) const;

 private:
  EspeakG2p(PhonemeVocabulary vocabulary, std::unique_ptr<EspeakPool> pool);

  const PhonemeVocabulary vocabulary_;
  const std::unique_ptr<EspeakPool> pool_;
};

}  // namespace millrace::models
