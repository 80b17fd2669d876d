#include "models/vits/letter_reader.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "models/text/ascii.h"
#include "models/text/unicode.h"
#include "models/text/written_words.h"

namespace millrace::vits {
namespace {

// Tables of the symbols of IPA have a capital letter or two, which are no capitals of their text.
bool HasCapitals(const VoiceConfig& voice) {
  size_t small = 0;
  size_t both = 0;
  for (const auto& [phoneme, ids] : voice.phoneme_ids) {
    const char32_t letter = models::DecodeAt(phoneme, 0).value;
    if (models::IsLower(letter)) ++small;
    const char32_t other = models::ToLower(letter);
    if (other != letter && voice.phoneme_ids.contains(models::EncodeUtf8(other))) ++both;
  }
  return 2 * both > small;
}

}  // namespace

LetterReader::LetterReader(const VoiceConfig& voice)
    : voice_(voice), folds_case_(!HasCapitals(voice)) {}

absl::StatusOr<models::PhonemeText> LetterReader::ToPhonemes(std::string_view sentence,
                                                             std::string_view /*language*/,
                                                             bool with_words) const {
  models::PhonemeText read;
  size_t done = 0;
  for (const models::WrittenWord& word : models::SplitWrittenWords(sentence)) {
    read.phonemes += Fold(sentence.substr(done, word.begin - done));
    const size_t begin = read.phonemes.size();
    read.phonemes += Fold(sentence.substr(word.begin, word.end - word.begin));
    if (with_words && HasLetter(std::string_view(read.phonemes).substr(begin)))
      read.words.push_back({word.begin, word.end, begin, read.phonemes.size()});
    done = word.end;
  }
  read.phonemes += Fold(sentence.substr(done));
  // A voice that speaks none of the letters, or marks alone, would only breathe.
  if (!HasLetter(read.phonemes)) return models::PhonemeText();
  return read;
}

std::string LetterReader::Fold(std::string_view text) const {
  utf8proc_uint8_t* mapped = nullptr;
  const int options =
      UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | (folds_case_ ? int{UTF8PROC_CASEFOLD} : 0);
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                                             static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(mapped, &std::free);
  if (size < 0) return "";
  return {reinterpret_cast<const char*>(mapped), static_cast<size_t>(size)};
}

bool LetterReader::HasLetter(std::string_view phonemes) const {
  for (const speech::PhonemeSymbol& symbol : voice_.ToIds(phonemes).symbols) {
    const char32_t read = models::DecodeAt(phonemes, symbol.begin).value;
    if (models::IsLetter(read) || models::IsDigit(read)) return true;
  }
  return false;
}

std::string SpelledBy(const VoiceConfig& voice, std::string_view text) {
  std::vector<std::string_view> letters;
  for (const auto& [phoneme, ids] : voice.phoneme_ids) {
    const char32_t letter = models::DecodeAt(phoneme, 0).value;
    // Marks are no letters of their own.
    if (models::IsLetter(letter) && utf8proc_charwidth(static_cast<utf8proc_int32_t>(letter)) > 0)
      letters.push_back(phoneme);
  }
  if (letters.empty()) return std::string(text);
  std::string spelled;
  size_t next = 0;
  for (const char c : text) {
    if (models::IsAsciiLetter(c)) {
      spelled += letters[next++ % letters.size()];
    } else {
      spelled += c;
    }
  }
  return spelled;
}

}  // namespace millrace::vits
