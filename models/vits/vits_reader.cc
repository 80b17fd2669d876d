#include "models/vits/vits_reader.h"

#include "absl/strings/str_replace.h"
#include "models/core/errors.h"
#include "models/text/english/respelled_text.h"
#include "models/text/unicode.h"

namespace millrace::vits {
namespace {

// Decides by espeak-ng's name of the voice, such as "en-us"; only two of its English voices are
// American.
std::optional<models::TextNormalizer> EnglishOf(std::string_view espeak_voice) {
  if (espeak_voice != "en" && !espeak_voice.starts_with("en-")) return std::nullopt;
  return models::TextNormalizer(espeak_voice.starts_with("en-us") ? models::EnglishDialect::kUs
                                                                  : models::EnglishDialect::kGb);
}

}  // namespace

VitsReader::VitsReader(const VoiceConfig& voice,
                       std::unique_ptr<const models::Phonemizer> phonemizer)
    : voice_(voice), phonemizer_(std::move(phonemizer)), english_(EnglishOf(voice.espeak_voice)) {}

absl::StatusOr<models::PhonemeText> VitsReader::ToPhonemes(std::string_view sentence,
                                                           std::string_view /*language*/,
                                                           bool with_words) const {
  models::RespelledText english;
  if (english_) english = models::RespellForEspeak(*english_, sentence);
  // espeak-ng may know a text of which the normaliser leaves nothing.
  const bool respelled = !english.words.empty();
  if (with_words) {
    return respelled
               ? phonemizer_->PhonemizeParts(english.text, english.words, /*has_phonemes=*/true)
               : phonemizer_->PhonemizeWords(sentence);
  }
  MILLRACE_ASSIGN_OR_RETURN(auto phonemes,
                            phonemizer_->Phonemize(respelled ? english.text : sentence, respelled));
  return models::PhonemeText{std::move(phonemes), {}};
}

std::string VitsReader::FromIpa(std::string_view ipa) const {
  // The letter g that espeak-ng writes is IPA's own; authors often type the other one.
  return absl::StrReplaceAll(models::Decompose(std::string(ipa)), {{"g", "ɡ"}, {"\u0361", ""}});
}

}  // namespace millrace::vits
