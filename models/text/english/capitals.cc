#include "models/text/english/capitals.h"

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/english/capital_words_text.h"
#include "models/text/english/one_of.h"

namespace millrace::models {

bool IsSpelledInCapitals(std::string_view word) {
  return IsOneOf(word, "AI", "API", "BBC", "CEO", "CI", "CIA", "CPU", "EU", "FBI", "GPU", "HIV",
                 "ID", "IP", "UDP", "UFO", "UI", "UK", "UN", "USA", "USB", "UX", "VIP");
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
  for (const SpokenWord& word : words) {
    for (const char c : word.text) {
      if (IsAsciiLower(c)) return false;
    }
    if (word.text.size() > 1) ++capitals;
  }
  return capitals > 1;
}

}  // namespace millrace::models
