#include "models/text/english/word_meaning.h"

#include <algorithm>
#include <string>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/english/one_of.h"
#include "models/text/english/word_meanings_text.h"

namespace millrace::models {
namespace {

constexpr size_t kConditions = 5;

// Returns true for the last word of a number.
bool EndsNumber(std::string_view word) {
  return word.ends_with("teen") ||
         IsListed(word,
                  " one two three four five six seven eight nine ten eleven twelve twenty thirty "
                  "forty fifty sixty seventy eighty ninety hundred thousand ");
}

// Returns true if the word is what the table writes so.
bool Meets(std::string_view word, std::string_view pattern) {
  if (pattern == "$") return word.empty();
  if (pattern == "^") return IsAsciiUpper(ByteAt(word, 0));
  if (pattern == "?") return word.size() == 1;
  if (pattern == "ARTICLE") return PrecedesNoun(word);
  if (pattern == "NUMBER") return EndsNumber(word);
  if (pattern == "SUBJECT") return IsSubject(word);
  return pattern.starts_with('*') ? word.ends_with(pattern.substr(1)) : word == pattern;
}

bool Holds(std::string_view condition, const SpokenWord& written, const WordsAround& near) {
  const bool denied = condition.starts_with('!');
  condition.remove_prefix(denied ? 1 : 0);
  const std::string_view place = condition.substr(0, condition.find(' '));
  const std::string_view words = condition.substr(place.size() + 1);
  if (place == "near") return near.Near(words) != denied;
  const auto steps = static_cast<size_t>(place.back() - '0');
  const std::string word = steps == 0        ? written.text
                           : place[0] == '-' ? near.Before(steps)
                                             : near.After(steps);
  bool met = false;
  ForEachWord(words, [&](std::string_view pattern) { met = met || Meets(word, pattern); });
  return met != denied;
}

// Returns true if one of the conditions holds that have | between them.
bool HoldsOneOf(std::string_view conditions, const SpokenWord& written, const WordsAround& near) {
  constexpr std::string_view kJoint = " | ";
  while (!conditions.empty()) {
    const std::string_view condition = conditions.substr(0, conditions.find(kJoint));
    if (Holds(condition, written, near)) return true;
    conditions.remove_prefix(std::min(condition.size() + kJoint.size(), conditions.size()));
  }
  return false;
}

}  // namespace

std::optional<WordSound> FindMeaning(const SpokenWord& written, std::string_view word,
                                     const WordsAround& near) {
  static const WordTable<3 + kConditions> meanings(kWordMeaningsText);
  for (const auto& row : meanings.FindAll(word)) {
    const bool fits = std::all_of(row.begin() + 3, row.end(), [&](std::string_view conditions) {
      return conditions.empty() || HoldsOneOf(conditions, written, near);
    });
    if (fits) return WordSound{row[1], row[2]};
  }
  return std::nullopt;
}

}  // namespace millrace::models
