#pragma once

#include <string>
#include <string_view>

#include "models/speech/speech_reader.h"
#include "models/vits/voice_config.h"

namespace millrace::vits {

// Reads for a Piper voice whose phonemes are the letters of the text: each is a code point of
// normalization form D, case-folded unless the voice tells capital letters from small ones. Borrows
// the voice.
class LetterReader final : public speech::SpeechReader {
 public:
  explicit LetterReader(const VoiceConfig& voice);

  absl::StatusOr<models::PhonemeText> ToPhonemes(std::string_view sentence,
                                                 std::string_view language,
                                                 bool with_words) const override;
  // Its symbols are letters, also where IPA is written.
  std::string FromIpa(std::string_view ipa) const override { return Fold(ipa); }
  speech::PhonemeIds ToIds(std::string_view phonemes) const override {
    return voice_.ToIds(phonemes);
  }
  std::string Symbols() const override { return voice_.Symbols(); }
  size_t max_symbols() const override { return VoiceConfig::kMaxSymbols; }

 private:
  // Returns an empty string for what is not UTF-8.
  std::string Fold(std::string_view text) const;
  bool HasLetter(std::string_view phonemes) const;

  const VoiceConfig& voice_;
  const bool folds_case_;
};

// Returns an English text with each letter replaced by one that the voice knows: one after the
// other, so that a voice of any script can speak it. A voice without letters gets the text itself.
std::string SpelledBy(const VoiceConfig& voice, std::string_view text);

}  // namespace millrace::vits
