#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/kokoro/kokoro_settings.h"
#include "models/speech/speech_reader.h"
#include "models/speech/text_to_phonemes.h"
#include "models/text/multilingual/misaki_symbols.h"

namespace millrace::kokoro {

// Reads for Kokoro: a front end for each language, and a mark at both ends of the phonemes. Borrows
// the settings.
class KokoroReader final : public speech::SpeechReader {
 public:
  struct FrontEnd {
    std::string language;  // BCP 47
    std::unique_ptr<const speech::TextToPhonemes> to_phonemes;
  };

  // The first front end is for texts that name no language.
  KokoroReader(const KokoroSettings& settings, std::vector<FrontEnd> front_ends, size_t max_symbols)
      : settings_(settings), front_ends_(std::move(front_ends)), max_symbols_(max_symbols) {}

  absl::StatusOr<models::PhonemeText> ToPhonemes(std::string_view sentence,
                                                 std::string_view language,
                                                 bool with_words) const override;
  absl::Status CheckText(std::string_view text, std::string_view language) const override {
    return FrontEndOf(language).Check(text);
  }
  std::string FromIpa(std::string_view ipa) const override { return models::MisakiFromIpa(ipa); }
  speech::PhonemeIds ToIds(std::string_view phonemes) const override;
  std::string Symbols() const override;
  size_t max_symbols() const override { return max_symbols_; }

 private:
  const speech::TextToPhonemes& FrontEndOf(std::string_view language) const;

  const KokoroSettings& settings_;
  const std::vector<FrontEnd> front_ends_;
  const size_t max_symbols_;
};

}  // namespace millrace::kokoro
