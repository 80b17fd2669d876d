#pragma once

#include <memory>
#include <optional>

#include "models/speech/speech_reader.h"
#include "models/text/english/text_normalizer.h"
#include "models/text/phonemizer.h"
#include "models/vits/voice_config.h"

namespace millrace::vits {

// How a Piper voice reads: phonemes by espeak-ng, a pad behind each; numbers, dates, abbreviations
// and symbols of English are made words before, as espeak-ng reads them badly. Borrows the voice.
class VitsReader final : public speech::SpeechReader {
 public:
  VitsReader(const VoiceConfig& voice, std::unique_ptr<const models::Phonemizer> phonemizer);

  absl::StatusOr<models::PhonemeText> ToPhonemes(
      std::string_view sentence, const models::SynthesizeInput& input) const override;
  speech::PhonemeIds ToIds(std::string_view phonemes) const override {
    return voice_.ToIds(phonemes);
  }
  std::string Symbols() const override;
  // Attention is quadratic in them. Prose of the longest unit has about half of it; digits and
  // symbols, which are spelled out, can have far more.
  size_t max_symbols() const override { return 748; }

 private:
  const VoiceConfig& voice_;
  const std::unique_ptr<const models::Phonemizer> phonemizer_;
  const std::optional<models::TextNormalizer> english_;  // none: the voice speaks another language
};

}  // namespace millrace::vits
