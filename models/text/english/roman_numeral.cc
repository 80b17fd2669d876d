#include "models/text/english/roman_numeral.h"

#include <algorithm>
#include <array>

#include "models/text/ascii.h"

namespace millrace::models {
namespace {

// Sorted by bytes.
constexpr std::array<std::string_view, 18> kParts = {
    "act",   "appendix", "article", "book",    "bowl",  "chapter", "class", "figure", "grade",
    "level", "part",     "phase",   "section", "stage", "table",   "type",  "volume", "war"};
static_assert(std::ranges::is_sorted(kParts));
constexpr std::array<std::string_view, 79> kRulers = {
    "Abdullah",   "Afonso",     "Albert",    "Alexander",   "Alfonso",   "Amenhotep",   "Antiochus",
    "Artaxerxes", "Baldwin",    "Benedict",  "Boniface",    "Carlos",    "Catherine",   "Charles",
    "Christian",  "Christina",  "Clement",   "Constantine", "Cyrus",     "Darius",      "David",
    "Edmund",     "Edward",     "Elizabeth", "Felipe",      "Ferdinand", "Francis",     "Frederick",
    "George",     "Gregory",    "Gustav",    "Haakon",      "Harald",    "Henry",       "Innocent",
    "Ivan",       "James",      "John",      "Joseph",      "Juan",      "Justinian",   "Leo",
    "Leopold",    "Louis",      "Ludwig",    "Mahmud",      "Malcolm",   "Manuel",      "Margaret",
    "Mary",       "Mehmed",     "Murad",     "Napoleon",    "Nicholas",  "Olav",        "Otto",
    "Paul",       "Pedro",      "Peter",     "Philip",      "Pius",      "Ptolemy",     "Ramesses",
    "Ramses",     "Richard",    "Robert",    "Rudolf",      "Selim",     "Seti",        "Sigismund",
    "Stephen",    "Theodosius", "Thutmose",  "Umberto",     "Urban",     "Valentinian", "Wilhelm",
    "William",    "Xerxes"};
static_assert(std::ranges::is_sorted(kRulers));

constexpr size_t kMaxLetters = 8;
// Higher numerals have letters that are more often initials or sizes ("XL").
constexpr unsigned kMaxWithoutPart = 39;

// Returns the value of a well-formed numeral below 90; 0 if it is none.
unsigned ValueOf(std::string_view word) {
  if (word.empty() || word.size() > kMaxLetters) return 0;
  size_t at = 0;
  unsigned tens = 0;
  if (word.starts_with("XL")) {
    at = 2;
    tens = 4;
  } else {
    if (word[0] == 'L') {
      at = 1;
      tens = 5;
    }
    for (const size_t most = at + 3; at < word.size() && word[at] == 'X' && at < most; ++at) ++tens;
  }
  const unsigned value = tens * 10;
  const std::string_view ones = word.substr(at);
  constexpr std::array<std::string_view, 10> kOnes = {"",  "I",  "II",  "III",  "IV",
                                                      "V", "VI", "VII", "VIII", "IX"};
  const auto found = std::ranges::find(kOnes, ones);
  if (found == kOnes.end()) return 0;
  return value + static_cast<unsigned>(found - kOnes.begin());
}

}  // namespace

unsigned LowerRomanValue(std::string_view word) {
  std::string upper(word);
  for (char& c : upper) {
    if (!IsAsciiLower(c)) return 0;
    c = static_cast<char>(c - 'a' + 'A');
  }
  // Single letters but "i" are rather letters.
  return word.size() == 1 && word != "i" ? 0 : ValueOf(upper);
}

bool CountsInRoman(std::string_view word) {
  return std::ranges::binary_search(kParts, word) || word == "page" || word == "pages" ||
         word == "scene" || word == "canto" || word == "footnote";
}

bool IsRuler(std::string_view name) { return std::ranges::binary_search(kRulers, name); }

std::vector<std::string> ReadRomanNumeral(const NumberWords& numbers, std::string_view word,
                                          std::string_view previous, char follows) {
  const unsigned value = ValueOf(word);
  if (value == 0 || previous.empty() || IsAsciiAlnum(follows) || follows == '\'') return {};
  if (CountsInRoman(AsciiLower(previous))) {
    return numbers.Cardinal(value);
  }
  if (!IsAsciiUpper(previous[0]) || previous.size() < 3 || value > kMaxWithoutPart) return {};
  const bool all_capitals = IsAsciiUpper(previous[1]);
  if (std::ranges::binary_search(kRulers, previous)) {
    // "Elizabeth I" may be a name and "I", so it is only a numeral where the sentence does not
    // continue.
    if (word == "I" && follows == ' ') return {};
    if (previous == "Malcolm" && value > 4) return {};  // Malcolm X
    std::vector<std::string> words = numbers.Ordinal(value);
    words.insert(words.begin(), "the");
    return words;
  }
  if (word.size() < 2 || all_capitals) return {};
  return numbers.Cardinal(value);
}

std::vector<std::string> ReadRomanOrdinal(const NumberWords& numbers, std::string_view word) {
  const unsigned value = ValueOf(word);
  return value == 0 ? std::vector<std::string>() : numbers.Ordinal(value);
}

}  // namespace millrace::models
