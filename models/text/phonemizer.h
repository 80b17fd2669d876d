#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace millrace::models {

class EspeakPool;

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

 private:
  explicit Phonemizer(std::unique_ptr<EspeakPool> pool);

  const std::unique_ptr<EspeakPool> pool_;
};

}  // namespace millrace::models
