#include "models/text/english/compass.h"

#include <array>
#include <string>

#include "models/text/ascii.h"
#include "models/text/english/one_of.h"
#include "models/text/english/word_kinds.h"

namespace millrace::models {
namespace {

// Returns true if the number of a road is before `at`: "I-5 ", "US-101 ".
bool LeadsFrom(std::string_view text, size_t at) {
  if (at < 4 || text[at - 1] != ' ' || !IsAsciiDigit(text[at - 2])) return false;
  const size_t begin = DigitsBegin(text, at - 1);
  return begin > 1 && text[begin - 1] == '-' && IsAsciiUpper(text[begin - 2]);
}

// Returns true if the number that ends there is that of a road: "Hwy. 101 N", "Route 66 W".
bool IsNumberOfRoad(std::string_view text, size_t end) {
  end = DigitsBegin(text, end);
  const std::string_view before = text.substr(0, end);
  return EndsWithOne(before, "Highway |Hwy |Hwy. |Route |Rte. |Interstate | I-| US-");
}

// Returns true if the name of a street follows, with its kind: "23rd St", "Martin Luther King
// Blvd".
bool StreetFollows(std::string_view text, size_t at) {
  constexpr size_t kMostWords = 4;
  constexpr size_t kMaxStreetBytes = 16;
  for (size_t words = 0; words < kMostWords && ByteAt(text, at) == ' '; ++words) {
    const size_t begin = at + 1;
    if (!IsAsciiUpper(ByteAt(text, begin)) && !IsAsciiDigit(ByteAt(text, begin))) return false;
    at = begin;
    while (at - begin < kMaxStreetBytes && IsAsciiAlnum(ByteAt(text, at))) ++at;
    if (words > 0 && IsOfKind(text.substr(begin, at - begin), "street")) return true;
  }
  return false;
}

}  // namespace

std::string_view CompassName(char letter) {
  constexpr std::string_view kLetters = "NSEW";
  constexpr std::array<std::string_view, 4> kNames = {"north", "south", "east", "west"};
  const size_t found = kLetters.find(letter);
  return found < kNames.size() ? kNames[found] : std::string_view();
}

bool IsCompassBehindNumber(std::string_view text, size_t at, size_t end) {
  return end == at + 1 && !CompassName(text[at]).empty() &&
         (StreetFollows(text, end + (ByteAt(text, end) == '.' ? 1 : 0)) || LeadsFrom(text, at) ||
          IsNumberOfRoad(text, at - 1));
}

std::optional<Reading> ReadCompass(std::string_view text, size_t begin, size_t end,
                                   std::string_view previous) {
  const std::string_view word = text.substr(begin, end - begin);
  // "I-405 N".
  if (word.size() == 1 && begin > 1 && text[begin - 1] == ' ' && !CompassName(word[0]).empty() &&
      IsNumberOfRoad(text, begin - 1))
    return Reading{end, {std::string(CompassName(word[0]))}};
  // "3 miles N of here".
  if (word.size() == 1 && IsOneOf(previous, "blocks", "kilometers", "mile", "miles") &&
      text.substr(end).starts_with(" of ") && !CompassName(word[0]).empty())
    return Reading{end, {std::string(CompassName(word[0]))}};
  // "N 40° W 79°".
  const size_t degrees = DigitsEnd(text, end + 1, 3);
  if (word.size() == 1 && !CompassName(word[0]).empty() && ByteAt(text, end) == ' ' &&
      degrees > end + 1 && text.substr(degrees).starts_with("°"))
    return Reading{end, {std::string(CompassName(word[0]))}};
  // "N. Main St.", "E 42nd St".
  if (word.size() == 1 && !CompassName(word[0]).empty()) {
    const size_t behind = end + (ByteAt(text, end) == '.' ? 1 : 0);
    const bool place =
        begin == 0 || IsOneOf(previous, "and", "at", "from", "near", "on", "onto", "to");
    if (!place || !StreetFollows(text, behind)) return std::nullopt;
    return Reading{behind, {std::string(CompassName(word[0]))}};
  }
  if (word.size() < 2 || word.size() > 3 || word.find_first_not_of("NSEW") != word.npos)
    return std::nullopt;
  const bool two = (word[0] == 'N' || word[0] == 'S') && (word[1] == 'E' || word[1] == 'W');
  // "From the SW".
  const bool side = previous == "the" && begin > 8 &&
                    IsOneOf(text.substr(begin - 8, 7), "rom the", " to the", " in the");
  if ((word.size() == 2 && !two) || (!side && !IsOfKind(previous, "before-compass")))
    return std::nullopt;
  Reading reading{end, {}};
  if (word.size() == 3) reading.Append(CompassName(word[0]));
  std::string last(CompassName(word[word.size() - 2]));
  reading.Append(last += CompassName(word.back()));
  return reading;
}

void TakeLetterBehindDegrees(std::string_view text, bool scales, Reading& reading) {
  const size_t at = reading.end + (ByteAt(text, reading.end) == ' ' ? 1 : 0);
  const char letter = ByteAt(text, at);
  std::string_view name = CompassName(letter);
  if (scales && letter == 'C') name = "celsius";
  if (scales && letter == 'F') name = "fahrenheit";
  if (name.empty() || IsAsciiAlnum(ByteAt(text, at + 1))) return;
  reading.Append(name);
  reading.end = at + 1;
}

}  // namespace millrace::models
