#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/text/phoneme_text.h"
#include "models/text/phoneme_vocabulary.h"

namespace millrace::models {

class EspeakPool;

// Text of one language to phonemes in misaki's symbols, which Kokoro voices were trained on, by
// espeak-ng, which is run as a program. A word may have its pronunciation beside it, as in
// "[tomate](/tomˈate/)". Thread-safe; about 1 ms a sentence, with the places of words three.
class EspeakG2p {
 public:
  struct Options {
    std::string program = "espeak-ng";  // a name to find in PATH, or a path
    std::string voice;                  // of espeak-ng, such as "fr-fr"
    PhonemeVocabulary vocabulary;       // of pronunciations in the text
    size_t max_processes = 4;
    std::chrono::milliseconds timeout{5000};  // of one sentence
  };

  // Tries one word: FailedPrecondition, naming what is to be installed, when the program or its
  // voice is missing.
  static absl::StatusOr<std::unique_ptr<EspeakG2p>> Create(Options options);
  ~EspeakG2p();

  // One sentence, UTF-8; its words only if they are asked for. Empty when nothing of it is spoken.
  // InvalidArgument as SplitInlinePronunciations; Unavailable when espeak-ng fails.
  absl::StatusOr<PhonemeText> Phonemize(std::string_view sentence, bool with_words) const;

 private:
  EspeakG2p(PhonemeVocabulary vocabulary, std::unique_ptr<EspeakPool> pool);

  const PhonemeVocabulary vocabulary_;
  const std::unique_ptr<EspeakPool> pool_;
};

}  // namespace millrace::models
