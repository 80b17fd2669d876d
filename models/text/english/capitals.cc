#include "models/text/english/capitals.h"

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/english/capital_words_text.h"
#include "models/text/english/one_of.h"
#include "models/text/english/word_kinds.h"

namespace millrace::models {
namespace {

// Words of sentences that are no abbreviations.
constexpr WordSet kJoints(
    "ALL AND ARE FOR FROM GET HAS HAVE IN IS MY NO NOT OF ON OUR THE TO WAS WITH YOU YOUR");

}  // namespace

bool IsSpelledInCapitals(std::string_view word) { return IsOfKind(word, "spelled-in-capitals"); }

bool IsShortWordInCapitals(std::string_view capitals) {
  return IsOfKind(capitals, "short-in-capitals");
}

CapitalsReading ReadingOfCapitals(std::string_view word) {
  // Also "IoT", whose second letter is small.
  if (word.size() < 2 || !IsAsciiUpper(word[0]) ||
      (!IsAsciiUpper(word[1]) && (word.size() < 3 || !IsAsciiUpper(word[2]))))
    return CapitalsReading::kUnknown;
  static const WordTable<2> words(kCapitalWordsText);
  const auto* const row = words.Find(word);
  if (row == nullptr) return CapitalsReading::kUnknown;
  return (*row)[1] == "word" ? CapitalsReading::kWord : CapitalsReading::kLetters;
}

bool IsShouted(std::span<const SpokenWord> words) {
  size_t capitals = 0;
  bool sentence = false;  // "AWD SUV" is none
  bool numbers = false;
  bool joined = false;  // "IBAN 12 ISO 9001" is not
  constexpr size_t kLongestAbbreviation = 3;
  for (const SpokenWord& word : words) {
    // In small letters whatever the text around them is in.
    if (word.from_digits && IsAsciiLower(ByteAt(word.text, 0))) {
      numbers = true;
      continue;
    }
    joined = joined || kJoints.Contains(word.text);
    for (const char c : word.text) {
      if (IsAsciiLower(c)) return false;
    }
    if (word.text.size() > 1) ++capitals;
    sentence = sentence || word.text.size() > kLongestAbbreviation ||
               IsShortWordInCapitals(word.text) ||
               ReadingOfCapitals(word.text) == CapitalsReading::kWord;
  }
  return capitals > 1 && sentence && (joined || !numbers);
}

}  // namespace millrace::models
