#include "models/text/japanese/japanese_g2p.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "models/core/errors.h"
#include "models/text/japanese/kana_phonemes.h"
#include "models/text/japanese/prepared_text.h"
#include "models/text/japanese/spoken_unit.h"
#include "models/text/japanese/unit_builder.h"

namespace millrace::models {

JapaneseG2p::JapaneseG2p(std::unique_ptr<const MorphologicalAnalyzer> analyzer, JapaneseWords words)
    : analyzer_(std::move(analyzer)), words_(std::move(words)) {}

absl::StatusOr<PhonemeText> JapaneseG2p::Phonemize(std::string_view text) const {
  MILLRACE_ASSIGN_OR_RETURN(const auto prepared, PrepareJapanese(text));
  MILLRACE_ASSIGN_OR_RETURN(auto units, BuildUnits(*analyzer_, prepared));
  DropReadings(prepared.text, units);
  const std::vector<SpokenUnit> spoken = JoinWords(prepared.text, std::move(units), words_);
  const KanaText kana = WriteKana(spoken);
  MILLRACE_ASSIGN_OR_RETURN(auto phonemes, KanaPhonemes(kana.kana));
  std::vector<PhonemeWord> words;
  for (PhonemeWord word : phonemes.words) {
    word.begin = prepared.begins[spoken[kana.units[word.begin]].begin];
    word.end = prepared.ends[spoken[kana.units[word.end - 1]].end - 1];
    // The words of one written number are one.
    if (!words.empty() && word.begin < words.back().end) {
      words.back().end = std::max(words.back().end, word.end);
      words.back().phonemes_end = word.phonemes_end;
    } else {
      words.push_back(word);
    }
  }
  phonemes.words = std::move(words);
  return phonemes;
}

}  // namespace millrace::models
