#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/synthesis/text_to_phonemes.h"
#include "models/text/phonemizer.h"

namespace millrace::models {

enum class EnglishAccent : uint8_t { kAmerican, kBritish };

// English by espeak-ng, whose IPA is rewritten with the symbols that Kokoro was trained on.
// Thread-safe; a call takes about 1 ms.
class EspeakEnglish final : public TextToPhonemes {
 public:
  static absl::StatusOr<std::unique_ptr<TextToPhonemes>> Create(
      EnglishAccent accent, const TextToPhonemesOptions& options);

  absl::StatusOr<std::string> Convert(std::string_view sentence) const override;

 private:
  EspeakEnglish(EnglishAccent accent, std::unique_ptr<Phonemizer> phonemizer)
      : accent_(accent), phonemizer_(std::move(phonemizer)) {}

  const EnglishAccent accent_;
  const std::unique_ptr<Phonemizer> phonemizer_;
};

// espeak-ng's IPA, UTF-8 in normalization form D, as Kokoro writes it.
std::string RewriteEspeakIpa(std::string_view ipa, EnglishAccent accent);

}  // namespace millrace::models
