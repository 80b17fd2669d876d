#include "models/text/english/zip_reader.h"

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/english/one_of.h"
#include "models/text/english/states_text.h"
#include "models/text/english/word_kinds.h"

namespace millrace::models {
namespace {

// Returns the name of a state by its letters, "MA", or its abbreviation, "Mass"; empty if it is
// none.
std::string_view NameOfState(std::string_view written) {
  static const WordTable<2> states(kStatesText);
  const auto* const row = states.Find(written);
  return row == nullptr ? std::string_view() : row->back();
}

// Returns the end of the ZIP code at `at`, or `at` if there is none.
size_t ZipEnd(std::string_view text, size_t at) {
  constexpr size_t kDigits = 5;
  constexpr size_t kMoreDigits = 4;
  const auto run = [&](size_t from) { return DigitsEnd(text, from, 6) - from; };
  if (run(at) != kDigits) return at;
  size_t end = at + kDigits;
  if (ByteAt(text, end) == '-' && run(end + 1) == kMoreDigits) end += 1 + kMoreDigits;
  const char follows = ByteAt(text, end);
  const bool goes_on = IsAsciiAlnum(follows) || follows == '%' ||
                       ((follows == ',' || follows == '.') && IsAsciiDigit(ByteAt(text, end + 1)));
  return goes_on ? at : end;
}

// Returns true if the letters of a state stand behind the name of a city: "Portland, OR". They are
// a word in "Sure, OK." and a degree in "Jane Smith, MD".
bool IsStateBehindCity(std::string_view text, size_t at) {
  constexpr std::string_view kEnds = ".,;:!?)";
  if (at < 3 || text.substr(at - 2, 2) != ", " || !IsAsciiLower(text[at - 3])) return false;
  const size_t begin = LettersBegin(text, at - 2);
  const std::string_view city = text.substr(begin, at - 2 - begin);
  const std::string_view letters = text.substr(at, 2);
  const char follows = ByteAt(text, at + 2);
  const bool ends = follows == '\0' || kEnds.find(follows) != kEnds.npos;
  const bool word = IsOneOf(letters, "HI", "ME", "OH", "OK");
  if (!IsAsciiUpper(city[0]) || (!ends && (follows != ' ' || word))) return false;
  if (IsOneOf(letters, "HI", "OK")) return !IsOfKind(city, "interjection");
  const size_t name = LettersBegin(text, begin > 1 && text[begin - 1] == ' ' ? begin - 1 : 0);
  const bool initial = begin > 2 && text.substr(begin - 2, 2) == ". ";
  const bool person = initial || (begin > 1 && IsAsciiUpper(text[name]) && text[begin - 1] == ' ');
  return !person || !IsOneOf(letters, "MD", "MS", "PA");
}

// Reads the state of "Boston, Mass." and "Sen. Lee (D-Vt.)".
std::optional<Reading> ReadStateWithStop(std::string_view text, size_t at) {
  const char behind = ByteAt(text, at + 1);
  const bool party = behind == '-' && IsListed(text.substr(at, 1), "D I R");
  const size_t begin = at + (party ? 2 : 0);
  const std::string_view word = LettersAt(text, begin, 6);
  if (ByteAt(text, begin + word.size()) != '.' || !IsAsciiLower(ByteAt(word, 1)))
    return std::nullopt;
  const bool city = at > 2 && text.substr(at - 2, 2) == ", " && IsAsciiLower(text[at - 3]);
  const std::string_view state = NameOfState(word);
  // A code of laws: "Cal. Penal Code".
  const std::string_view rest = text.substr(begin + word.size() + 1);
  const bool code = rest.substr(0, rest.find_first_of(".,;:0123456789")).find(" Code") != rest.npos;
  if (state.empty() || (!party && !city && !code)) return std::nullopt;
  Reading reading{begin + word.size() + 1, {}};
  if (party) reading.Append(std::string(text.substr(at, 1)) + ".");
  reading.AppendEach(state);
  return reading;
}

}  // namespace

std::optional<Reading> ReadStateBeforeZip(std::string_view text, size_t at) {
  if (auto state = ReadStateWithStop(text, at)) return state;
  // "ID 48213" has an identifier.
  const bool zip = ByteAt(text, at + 2) == ' ' && ZipEnd(text, at + 3) > at + 3 &&
                   (text.substr(at, 2) != "ID" || text.substr(0, at).ends_with(", "));
  if (!zip && !IsStateBehindCity(text, at)) return std::nullopt;
  const std::string_view state = NameOfState(text.substr(at, 2));
  if (state.empty() || !IsAsciiUpper(text[at + 1])) return std::nullopt;
  return ReadAs(at + 2, state);
}

std::optional<Reading> ReadZip(const NumberWords& numbers, std::string_view text, size_t at) {
  if (at < 3 || text[at - 1] != ' ' || !IsAsciiUpper(text[at - 2]) ||
      NameOfState(text.substr(at - 3, 2)).empty())
    return std::nullopt;
  if (at > 3 && IsAsciiAlnum(text[at - 4])) return std::nullopt;
  const size_t end = ZipEnd(text, at);
  if (end == at) return std::nullopt;
  Reading reading{end, numbers.Digits(text.substr(at, 5))};
  if (end > at + 5) reading.Append(numbers.Digits(text.substr(at + 6, end - at - 6)));
  return reading;
}

}  // namespace millrace::models
