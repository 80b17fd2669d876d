#include "models/text/english/capitals.h"

#include <algorithm>
#include <array>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/english/capital_words_text.h"
#include "models/text/english/one_of.h"

namespace millrace::models {

bool IsSpelledInCapitals(std::string_view word) {
  return IsOneOf(word, "AI", "API", "BBC", "CEO", "CI", "CIA", "CPU", "EU", "FBI", "GPU", "HIV",
                 "ID", "IP", "UDP", "UFO", "UI", "UK", "UN", "USA", "USB", "UX", "VIP");
}

bool IsShortWordInCapitals(std::string_view capitals) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"ALL", "AM",  "AN",  "AND", "ANY", "ARE", "AS",  "AT",  "BE",  "BUT", "BY",  "CAN",
       "DID", "DO",  "FOR", "GET", "GO",  "GOT", "HAD", "HAS", "HE",  "HER", "HIM", "HIS",
       "HOW", "IF",  "IN",  "IS",  "IT",  "ITS", "LA",  "MAY", "ME",  "MY",  "NO",  "NOR",
       "NOT", "NOW", "OF",  "OH",  "OK",  "ON",  "ONE", "OR",  "OUR", "PER", "PUT", "SHE",
       "SO",  "THE", "TO",  "TWO", "UP",  "US",  "USE", "WE",  "WHY", "YOU"});
  static_assert(std::ranges::is_sorted(kWords));
  return std::ranges::binary_search(kWords, capitals);
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
  constexpr size_t kLongestAbbreviation = 3;
  for (const SpokenWord& word : words) {
    for (const char c : word.text) {
      if (IsAsciiLower(c)) return false;
    }
    if (word.text.size() > 1) ++capitals;
    sentence = sentence || word.text.size() > kLongestAbbreviation ||
               IsShortWordInCapitals(word.text) ||
               ReadingOfCapitals(word.text) == CapitalsReading::kWord;
  }
  return capitals > 1 && sentence;
}

}  // namespace millrace::models
