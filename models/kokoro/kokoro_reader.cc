#include "models/kokoro/kokoro_reader.h"

#include <algorithm>

#include "absl/strings/str_join.h"

namespace millrace::kokoro {
namespace {

constexpr int64_t kEndMark = 0;

}  // namespace

absl::StatusOr<models::PhonemeText> KokoroReader::ToPhonemes(std::string_view sentence,
                                                             std::string_view language,
                                                             bool with_words) const {
  return FrontEndOf(language).Convert(sentence, with_words);
}

const speech::TextToPhonemes& KokoroReader::FrontEndOf(std::string_view language) const {
  auto front_end = std::ranges::find(front_ends_, language, &FrontEnd::language);
  if (front_end == front_ends_.end()) front_end = front_ends_.begin();
  return *front_end->to_phonemes;
}

speech::PhonemeIds KokoroReader::ToIds(std::string_view phonemes) const {
  speech::PhonemeIds read = settings_.ToIds(phonemes);
  read.ids.insert(read.ids.begin(), kEndMark);
  read.ids.push_back(kEndMark);
  for (speech::PhonemeSymbol& symbol : read.symbols) {
    ++symbol.first_id;
    ++symbol.end_id;
  }
  return read;
}

std::string KokoroReader::Symbols() const { return absl::StrJoin(settings_.Symbols(), " "); }

}  // namespace millrace::kokoro
