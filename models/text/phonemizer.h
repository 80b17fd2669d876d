#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/espeak_options.h"
#include "models/text/phoneme_text.h"

namespace millrace::models {

class EspeakPool;

// A written word and what is spoken for it.
struct PartToSpeak {
  size_t begin = 0;  // bytes of the source
  size_t end = 0;
  std::string spoken;

  friend bool operator==(const PartToSpeak&, const PartToSpeak&) = default;
};

// Turns text into IPA with punctuation, on which Piper voices were trained, by espeak-ng.
// Thread-safe; a call takes about 1 ms.
class Phonemizer {
 public:
  struct Options {
    EspeakOptions espeak = {};
    std::string voice;  // espeak-ng's name, such as "en-us"
  };

  // Starts one process and tests it. Returns FailedPrecondition when the program is missing, and
  // InvalidArgument when it does not know the voice.
  static absl::StatusOr<std::unique_ptr<Phonemizer>> Create(const Options& options);
  ~Phonemizer();

  // Returns UTF-8 in normalisation form D; empty if there is nothing to speak. Unavailable when
  // espeak-ng fails.
  // has_phonemes: as in SplitClauses.
  absl::StatusOr<std::string> Phonemize(std::string_view sentence, bool has_phonemes = false) const;
  // Returns the phonemes with the words that SplitWrittenWords finds. espeak-ng also reads each
  // word alone, and the sounds are compared, because it joins some words ("of the") and makes
  // several of others ("1984"). Takes about three times as long.
  absl::StatusOr<PhonemeText> PhonemizeWords(std::string_view sentence) const;
  // Does the same for a sentence whose spoken words differ from its written ones: `spoken` is the
  // whole sentence, and `parts` are the words of the source, in order, whose bytes the result has.
  absl::StatusOr<PhonemeText> PhonemizeParts(std::string_view spoken,
                                             const std::vector<PartToSpeak>& parts,
                                             bool has_phonemes = false) const;

 private:
  // espeak-ng's output for the sentence and for further lines.
  struct Answers {
    std::string sentence;
    std::vector<std::string> lines;
  };

  explicit Phonemizer(std::unique_ptr<EspeakPool> pool);

  absl::StatusOr<Answers> Ask(std::string_view sentence, std::vector<std::string> lines,
                              bool has_phonemes) const;

  const std::unique_ptr<EspeakPool> pool_;
};

}  // namespace millrace::models
