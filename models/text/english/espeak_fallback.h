#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/espeak_options.h"
#include "models/text/english/dialect.h"
#include "models/text/word_fallback.h"

namespace millrace::models {

class EspeakPool;

// Pronounces English words with espeak-ng, which runs as a separate program: one call of it for all
// words. Thread-safe; about 1 ms for each word.
class EspeakFallback final : public WordFallback {
 public:
  struct Options {
    EspeakOptions espeak = {};
    EnglishDialect dialect = EnglishDialect::kUs;
  };

  // Tests espeak-ng with one word. Returns FailedPrecondition when the program is missing, else the
  // error of the call.
  static absl::StatusOr<std::unique_ptr<EspeakFallback>> Create(const Options& options);
  ~EspeakFallback() override;

  // Returns Unavailable when espeak-ng fails.
  absl::StatusOr<std::vector<std::string>> Phonemize(
      std::span<const std::string> words) const override;

 private:
  EspeakFallback(EnglishDialect dialect, std::unique_ptr<EspeakPool> pool);

  const EnglishDialect dialect_;
  const std::unique_ptr<EspeakPool> pool_;
};

// Converts espeak-ng's IPA of English to misaki's symbols; sounds that these lack are left out.
std::string MisakiFromEspeak(std::string_view ipa, EnglishDialect dialect);

}  // namespace millrace::models
