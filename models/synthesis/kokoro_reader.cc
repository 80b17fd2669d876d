#include "models/synthesis/kokoro_reader.h"

#include "absl/strings/str_join.h"

namespace millrace::models {
namespace {

constexpr int64_t kEndMark = 0;

}  // namespace

absl::StatusOr<PhonemeText> KokoroReader::ToPhonemes(std::string_view sentence,
                                                     const SynthesizeInput&) const {
  return front_end_->Convert(sentence);
}

PhonemeIds KokoroReader::ToIds(std::string_view phonemes) const {
  PhonemeIds read = settings_.ToIds(phonemes);
  read.ids.insert(read.ids.begin(), kEndMark);
  read.ids.push_back(kEndMark);
  for (PhonemeSymbol& symbol : read.symbols) {
    ++symbol.first_id;
    ++symbol.end_id;
  }
  return read;
}

std::string KokoroReader::Symbols() const { return absl::StrJoin(settings_.Symbols(), " "); }

}  // namespace millrace::models
