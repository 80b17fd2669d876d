#include "models/synthesis/text_to_phonemes.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "models/synthesis/espeak_english.h"

namespace millrace::models {

absl::StatusOr<std::unique_ptr<TextToPhonemes>> MakeTextToPhonemes(
    const TextToPhonemesOptions& options) {
  if (options.language == "en-US") return EspeakEnglish::Create(EnglishAccent::kAmerican, options);
  if (options.language == "en-GB") return EspeakEnglish::Create(EnglishAccent::kBritish, options);
  return absl::InvalidArgumentError(absl::StrCat(
      "language: there is no way from '", options.language, "' to phonemes, allowed en-US, en-GB"));
}

}  // namespace millrace::models
