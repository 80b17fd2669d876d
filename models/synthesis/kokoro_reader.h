#pragma once

#include <memory>

#include "models/synthesis/kokoro_settings.h"
#include "models/synthesis/speech_reader.h"
#include "models/synthesis/text_to_phonemes.h"

namespace millrace::models {

// How Kokoro reads: a mark at both ends of the phonemes. Borrows the settings.
class KokoroReader final : public SpeechReader {
 public:
  KokoroReader(const KokoroSettings& settings, std::unique_ptr<const TextToPhonemes> front_end,
               size_t max_symbols)
      : settings_(settings), front_end_(std::move(front_end)), max_symbols_(max_symbols) {}

  absl::StatusOr<PhonemeText> ToPhonemes(std::string_view sentence,
                                         const SynthesizeInput& input) const override;
  PhonemeIds ToIds(std::string_view phonemes) const override;
  std::string Symbols() const override;
  size_t max_symbols() const override { return max_symbols_; }

 private:
  const KokoroSettings& settings_;
  const std::unique_ptr<const TextToPhonemes> front_end_;
  const size_t max_symbols_;
};

}  // namespace millrace::models
