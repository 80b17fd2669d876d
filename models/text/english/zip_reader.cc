#include "models/text/english/zip_reader.h"

#include <algorithm>
#include <array>

#include "models/text/ascii.h"
#include "models/text/english/one_of.h"

namespace millrace::models {
namespace {

struct State {
  std::string_view letters;
  std::string_view name;
};

// Sorted by their letters.
constexpr std::array<State, 52> kStates = {{
    {"AK", "Alaska"},         {"AL", "Alabama"},       {"AR", "Arkansas"},
    {"AZ", "Arizona"},        {"CA", "California"},    {"CO", "Colorado"},
    {"CT", "Connecticut"},    {"DC", "D.C."},          {"DE", "Delaware"},
    {"FL", "Florida"},        {"GA", "Georgia"},       {"HI", "Hawaii"},
    {"IA", "Iowa"},           {"ID", "Idaho"},         {"IL", "Illinois"},
    {"IN", "Indiana"},        {"KS", "Kansas"},        {"KY", "Kentucky"},
    {"LA", "Louisiana"},      {"MA", "Massachusetts"}, {"MD", "Maryland"},
    {"ME", "Maine"},          {"MI", "Michigan"},      {"MN", "Minnesota"},
    {"MO", "Missouri"},       {"MS", "Mississippi"},   {"MT", "Montana"},
    {"NC", "North Carolina"}, {"ND", "North Dakota"},  {"NE", "Nebraska"},
    {"NH", "New Hampshire"},  {"NJ", "New Jersey"},    {"NM", "New Mexico"},
    {"NV", "Nevada"},         {"NY", "New York"},      {"OH", "Ohio"},
    {"OK", "Oklahoma"},       {"OR", "Oregon"},        {"PA", "Pennsylvania"},
    {"PR", "Puerto Rico"},    {"RI", "Rhode Island"},  {"SC", "South Carolina"},
    {"SD", "South Dakota"},   {"TN", "Tennessee"},     {"TX", "Texas"},
    {"UT", "Utah"},           {"VA", "Virginia"},      {"VT", "Vermont"},
    {"WA", "Washington"},     {"WI", "Wisconsin"},     {"WV", "West Virginia"},
    {"WY", "Wyoming"},
}};
static_assert(std::ranges::is_sorted(kStates, {}, &State::letters));

const State* FindState(std::string_view letters) {
  const auto found = std::ranges::lower_bound(kStates, letters, {}, &State::letters);
  return found != kStates.end() && found->letters == letters ? &*found : nullptr;
}

// Returns the end of the ZIP code at `at`, or `at` if there is none.
size_t ZipEnd(std::string_view text, size_t at) {
  constexpr size_t kDigits = 5;
  constexpr size_t kMoreDigits = 4;
  const auto run = [&](size_t from) { return DigitsEnd(text.substr(0, from + 6), from) - from; };
  if (run(at) != kDigits) return at;
  size_t end = at + kDigits;
  if (ByteAt(text, end) == '-' && run(end + 1) == kMoreDigits) end += 1 + kMoreDigits;
  const char follows = ByteAt(text, end);
  const bool goes_on = IsAsciiAlnum(follows) || follows == '%' ||
                       ((follows == ',' || follows == '.') && IsAsciiDigit(ByteAt(text, end + 1)));
  return goes_on ? at : end;
}

// Returns true for the letters of a state that are a word, too, behind the name of a city and at
// the end of a clause: "Portland, OR".
bool IsStateBehindCity(std::string_view text, size_t at) {
  constexpr std::string_view kEnds = ".,;)";
  if (at < 3 || !text.substr(0, at).ends_with(", ") || !IsAsciiLower(text[at - 3]) ||
      !IsOneOf(text.substr(at, 2), "IN", "LA", "MA", "ME", "OH", "OR", "PA"))
    return false;
  size_t begin = at - 2;
  while (begin > 0 && IsAsciiLetter(text[begin - 1])) --begin;
  const char follows = ByteAt(text, at + 2);
  return IsAsciiUpper(text[begin]) && (follows == '\0' || kEnds.find(follows) != kEnds.npos);
}

// Reads the state of "Boston, Mass." and "Sen. Lee (D-Vt.)".
std::optional<Reading> ReadStateWithStop(std::string_view text, size_t at) {
  constexpr auto kShort = std::to_array<State>({
      {"Ala", "Alabama"},      {"Ariz", "Arizona"},    {"Ark", "Arkansas"},
      {"Calif", "California"}, {"Colo", "Colorado"},   {"Conn", "Connecticut"},
      {"Del", "Delaware"},     {"Fla", "Florida"},     {"Ga", "Georgia"},
      {"Ill", "Illinois"},     {"Ind", "Indiana"},     {"Kan", "Kansas"},
      {"Ky", "Kentucky"},      {"La", "Louisiana"},    {"Mass", "Massachusetts"},
      {"Md", "Maryland"},      {"Mich", "Michigan"},   {"Minn", "Minnesota"},
      {"Miss", "Mississippi"}, {"Mo", "Missouri"},     {"Mont", "Montana"},
      {"Neb", "Nebraska"},     {"Nev", "Nevada"},      {"Okla", "Oklahoma"},
      {"Ore", "Oregon"},       {"Pa", "Pennsylvania"}, {"Tenn", "Tennessee"},
      {"Tex", "Texas"},        {"Va", "Virginia"},     {"Vt", "Vermont"},
      {"Wash", "Washington"},  {"Wis", "Wisconsin"},   {"Wyo", "Wyoming"},
  });
  const char behind = ByteAt(text, at + 1);
  const bool party = behind == '-' && IsListed(text.substr(at, 1), "D I R");
  const size_t begin = at + (party ? 2 : 0);
  const std::string_view word = LettersAt(text, begin, 6);
  if (ByteAt(text, begin + word.size()) != '.') return std::nullopt;
  const bool city = at > 2 && text.substr(at - 2, 2) == ", " && IsAsciiLower(text[at - 3]);
  const auto* const state = std::ranges::find(kShort, word, &State::letters);
  if (state == kShort.end() || (!party && !city)) return std::nullopt;
  Reading reading{begin + word.size() + 1, {}};
  if (party) reading.Append(std::string(text.substr(at, 1)) + ".");
  reading.AppendEach(state->name);
  return reading;
}

}  // namespace

std::optional<Reading> ReadStateBeforeZip(std::string_view text, size_t at) {
  if (auto state = ReadStateWithStop(text, at)) return state;
  const bool zip = ByteAt(text, at + 2) == ' ' && ZipEnd(text, at + 3) > at + 3;
  if (!zip && !IsStateBehindCity(text, at)) return std::nullopt;
  const State* state = FindState(text.substr(at, 2));
  if (state == nullptr) return std::nullopt;
  Reading reading{at + 2, {}};
  reading.AppendEach(state->name);
  return reading;
}

std::optional<Reading> ReadZip(const NumberWords& numbers, std::string_view text, size_t at) {
  if (at < 3 || text[at - 1] != ' ' || FindState(text.substr(at - 3, 2)) == nullptr)
    return std::nullopt;
  if (at > 3 && IsAsciiAlnum(text[at - 4])) return std::nullopt;
  const size_t end = ZipEnd(text, at);
  if (end == at) return std::nullopt;
  Reading reading{end, numbers.Digits(text.substr(at, 5))};
  if (end > at + 5) reading.Append(numbers.Digits(text.substr(at + 6, end - at - 6)));
  return reading;
}

}  // namespace millrace::models
