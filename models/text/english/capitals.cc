#include "models/text/english/capitals.h"

#include "models/text/ascii.h"
#include "models/text/english/one_of.h"

namespace millrace::models {

bool IsSpelledInCapitals(std::string_view word) {
  return IsOneOf(word, "AI", "API", "BBC", "CEO", "CI", "CIA", "CPU", "EU", "FBI", "GPU", "HIV",
                 "ID", "IP", "UDP", "UFO", "UI", "UK", "UN", "USA", "USB", "UX", "VIP");
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
