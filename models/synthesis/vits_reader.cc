#include "models/synthesis/vits_reader.h"

#include "absl/strings/str_cat.h"

namespace millrace::models {

absl::StatusOr<PhonemeText> VitsReader::ToPhonemes(std::string_view sentence,
                                                   const SynthesizeInput& input) const {
  if (input.word_times) return phonemizer_->PhonemizeWords(sentence);
  auto phonemes = phonemizer_->Phonemize(sentence);
  if (!phonemes.ok()) return phonemes.status();
  return PhonemeText{*std::move(phonemes), {}};
}

std::string VitsReader::Symbols() const {
  std::string symbols;
  for (const auto& [symbol, ids] : voice_.phoneme_ids)
    absl::StrAppend(&symbols, symbols.empty() ? "" : " ", symbol);
  return symbols;
}

}  // namespace millrace::models
