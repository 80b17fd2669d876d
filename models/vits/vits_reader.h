#pragma once

#include <memory>
#include <optional>

#include "models/speech/speech_reader.h"
#include "models/text/english/text_normalizer.h"
#include "models/text/phonemizer.h"
#include "models/vits/voice_config.h"

namespace millrace::vits {

// Reads for a Piper voice: phonemes by espeak-ng with a pad after each. English numbers, dates,
// abbreviations and symbols become words before, because espeak-ng reads them badly. Borrows the
// voice.
class VitsReader final : public speech::SpeechReader {
 public:
  VitsReader(const VoiceConfig& voice, std::unique_ptr<const models::Phonemizer> phonemizer);

  absl::StatusOr<models::PhonemeText> ToPhonemes(std::string_view sentence,
                                                 std::string_view language,
                                                 bool with_words) const override;
  std::string FromIpa(std::string_view ipa) const override;
  speech::PhonemeIds ToIds(std::string_view phonemes) const override {
    return voice_.ToIds(phonemes);
  }
  std::string Symbols() const override { return voice_.Symbols(); }
  size_t max_symbols() const override { return VoiceConfig::kMaxSymbols; }

 private:
  const VoiceConfig& voice_;
  const std::unique_ptr<const models::Phonemizer> phonemizer_;
  // Nullopt: the voice speaks another language.
  const std::optional<models::TextNormalizer> english_;
};

}  // namespace millrace::vits
