#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/text/phoneme_text.h"

namespace millrace::models {

class EspeakPool;

// A word as it is written, and what is said for it.
struct PartToSpeak {
  size_t begin = 0;  // bytes of the source
  size_t end = 0;
  std::string spoken;

  friend bool operator==(const PartToSpeak&, const PartToSpeak&) = default;
};

// Text to IPA by espeak-ng, with the punctuation kept, as Piper voices were trained on.
// Thread-safe; a call takes about 1 ms.
class Phonemizer {
 public:
  struct Options {
    std::string program = "espeak-ng";  // a name to find in PATH, or a path
    std::string voice;                  // of espeak-ng, such as "en-us"
    size_t max_processes = 4;
    std::chrono::milliseconds timeout{5000};  // of one sentence
  };

  // Starts one process and tries it: FailedPrecondition when the program is missing,
  // InvalidArgument when it does not know the voice.
  static absl::StatusOr<std::unique_ptr<Phonemizer>> Create(const Options& options);
  ~Phonemizer();

  // UTF-8 in normalization form D; empty when there is nothing to speak. Unavailable when espeak-ng
  // fails.
  absl::StatusOr<std::string> Phonemize(std::string_view sentence) const;
  // The same with its words, as SplitWrittenWords has them: each is asked for on its own, too, and
  // the sounds are compared, as espeak-ng joins some ("of the") and makes several of others
  // ("1984"). About three times the time.
  absl::StatusOr<PhonemeText> PhonemizeWords(std::string_view sentence) const;
  // The same of a sentence that is spoken in other words than it is written: `spoken` is all of it,
  // `parts` are the words of the source, in order, whose bytes the result has.
  absl::StatusOr<PhonemeText> PhonemizeParts(std::string_view spoken,
                                             const std::vector<PartToSpeak>& parts) const;

 private:
  // What espeak-ng says to the sentence and to further lines.
  struct Answers {
    std::string sentence;
    std::vector<std::string> lines;
  };

  explicit Phonemizer(std::unique_ptr<EspeakPool> pool);

  absl::StatusOr<Answers> Ask(std::string_view sentence, std::vector<std::string> lines) const;

  const std::unique_ptr<EspeakPool> pool_;
};

}  // namespace millrace::models
