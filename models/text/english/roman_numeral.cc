#include "models/text/english/roman_numeral.h"

#include <algorithm>
#include <array>
#include <span>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/english/amount.h"
#include "models/text/english/letter_word.h"
#include "models/text/english/one_of.h"
#include "models/text/english/rulers_text.h"
#include "models/text/english/word_kinds.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxLetters = 8;
// Higher numerals have letters that are more often initials or sizes ("XL").
constexpr unsigned kMaxWithoutPart = 39;

// Returns the value of a well-formed numeral; 0 if it is none.
unsigned Parse(std::string_view word) {
  constexpr std::string_view kLetters = "IVXLCDM";
  // Digits by how far their letters are behind that of a one: "II", "IX".
  constexpr std::array<std::string_view, 10> kDigits = {"",  "0",  "00",  "000",  "01",
                                                        "1", "10", "100", "1000", "02"};
  unsigned value = 0;
  for (size_t place = 4; place-- > 0;) {
    size_t longest = 0;
    for (size_t digit = 1; digit < kDigits.size(); ++digit) {
      const std::string_view steps = kDigits[digit];
      const bool fits =
          std::ranges::equal(steps, word.substr(0, steps.size()), [&](char step, char letter) {
            return ByteAt(kLetters, 2 * place + static_cast<size_t>(step - '0')) == letter;
          });
      if (fits && steps.size() >= kDigits[longest].size()) longest = digit;
    }
    value = value * 10 + static_cast<unsigned>(longest);
    word.remove_prefix(kDigits[longest].size());
  }
  return word.empty() ? value : 0;
}

// Returns the value of a well-formed numeral below 90; 0 if it is none.
unsigned ValueOf(std::string_view word) {
  const unsigned value = word.size() <= kMaxLetters ? Parse(word) : 0;
  return value < 90 ? value : 0;
}

// Returns the year up to 2099 of a well-formed numeral; 0 if it is none.
unsigned YearOf(std::string_view word) {
  const unsigned year = Parse(word);
  return year < 2100 ? year : 0;
}

// Returns true for words that Roman numerals follow, in lower case: "part", "parts".
bool CountsInRoman(std::string_view word) {
  if (word.ends_with('s') && word != "class") word.remove_suffix(1);
  return IsOfKind(word, "numbered-in-roman");
}

// Returns true if the last words are another numeral of a part and a joint: "Parts II and", "Part
// II of".
bool ContinuesRoman(std::string_view text, std::span<const SpokenWord> words) {
  if (words.size() < 3 || !IsOneOf(words.back().text, "and", "of", "or", "through", "to"))
    return false;
  const SpokenWord& numeral = words[words.size() - 2];
  return ValueOf(text.substr(numeral.begin, numeral.end - numeral.begin)) > 0 &&
         !IsAsciiUpper(numeral.text[0]);
}

// Returns true for names of rulers, after which a numeral is an ordinal.
bool IsRuler(std::string_view name) {
  static const WordTable<1> rulers(kRulersText);
  return rulers.Find(name) != nullptr;
}

// Returns true if the last word is a surname behind a first name, with a numeral of an heir behind
// it: "John Smith III", "John D. Rockefeller IV".
bool IsHeir(std::span<const SpokenWord> words, unsigned value) {
  constexpr unsigned kLast = 5;
  if (words.size() < 2 || value < 2 || value > kLast) return false;
  const std::string& surname = words.back().text;
  if (!IsAsciiUpper(surname[0]) || !IsAsciiLower(ByteAt(surname, 1))) return false;
  size_t given = words.size() - 2;
  while (given > 0 && words[given].text.size() <= 2 && IsAsciiUpper(words[given].text[0])) --given;
  return IsRuler(words[given].text);
}

// Returns the words of a numeral behind `previous`; empty if it is a word or letters. follows: the
// byte after it.
std::vector<std::string> NumeralWords(const NumberWords& numbers, std::string_view word,
                                      std::span<const SpokenWord> words, char follows) {
  const std::string& previous = words.back().text;
  const unsigned value = ValueOf(word);
  if (value == 0 || previous.empty() || IsAsciiAlnum(follows) || follows == '\'') return {};
  if (CountsInRoman(AsciiLower(previous))) return numbers.Cardinal(value);
  if (!IsAsciiUpper(previous[0]) || previous.size() < 3 || value > kMaxWithoutPart) return {};
  const bool all_capitals = IsAsciiUpper(previous[1]);
  if (IsRuler(previous) || IsHeir(words, value)) {
    // "Elizabeth I" may be a name and "I", so it is only a numeral where the sentence does not
    // continue.
    if (word == "I" && follows == ' ') return {};
    if (previous == "Malcolm" && value > 4) return {};  // Malcolm X
    std::vector<std::string> reading = numbers.Ordinal(value);
    reading.insert(reading.begin(), "the");
    return reading;
  }
  // "NaCl IV" is given by a drip.
  const bool spelled = previous.find('.') != std::string_view::npos;
  if (word.size() < 2 || all_capitals || spelled) return {};
  return numbers.Cardinal(value);
}

bool IsTitle(std::string_view word) { return IsOfKind(AsciiLower(word), "title"); }

// Returns true if the letter that ends there is of a name, "Michael V. Smith", and no numeral.
bool IsInitial(std::string_view text, size_t end, std::span<const SpokenWord> words) {
  if (text.substr(end, 2) != ". " || !IsAsciiUpper(ByteAt(text, end + 2))) return false;
  return (words.size() < 2 || !IsTitle(words[words.size() - 2].text)) &&
         !IsOfKind(LettersAt(text, end + 2), "begins-sentence");
}

// Returns true if the ruler before is the subject: at the start or behind a title, before a verb.
bool RulerSpeaks(std::string_view text, size_t at, std::span<const SpokenWord> words) {
  const bool titled = words.size() > 1 && IsTitle(words[words.size() - 2].text);
  if ((words.size() != 1 && !titled) || ByteAt(text, at) != ' ') return false;
  return IsOfKind(LettersAt(text, at + 1), "verb-of-ruler");
}

// Returns true if the flat or sharp of a chord is before `at`: "♭VII".
bool IsSignOfChord(std::string_view text, size_t at) {
  const std::string_view before = text.substr(0, at);
  return before.ends_with("♭") || before.ends_with("♯");
}

bool CenturyFollows(std::string_view text, size_t at) {
  return BeginsWithOne(text.substr(at),
                       " century| Century| Olympi| Legion| Corps| dynasty| Dynasty");
}

}  // namespace

unsigned LowerRomanValue(std::string_view word) {
  if (word.find_first_not_of("ivxl") != std::string_view::npos) return 0;
  // Single letters but "i" are rather letters.
  return word.size() == 1 && word != "i" ? 0 : ValueOf(AsciiUpper(word));
}

std::optional<Reading> ReadRomanRange(const NumberWords& numbers, std::string_view text, size_t at,
                                      std::span<const SpokenWord> words) {
  if (!IsAmong("IVXLivxl", text[at]) ||
      RangeDashBytes(text, at + LettersAt(text, at, kMaxLetters + 1).size()) == 0)
    return std::nullopt;
  Reading reading{at, {}};
  const bool parts = !words.empty() && CountsInRoman(AsciiLower(words.back().text));
  bool upper = false;
  for (size_t next = at;; next = reading.end + RangeDashBytes(text, reading.end)) {
    const std::string_view word = LettersAt(text, next, kMaxLetters + 1);
    const std::string numeral = AsciiUpper(word);
    if (ValueOf(numeral) == 0) return std::nullopt;
    upper = upper || numeral == word;
    reading.end = next + word.size();
    if (!reading.words.empty() && parts) reading.Append("to");
    reading.Append(numbers.Cardinal(ValueOf(numeral)));
    if (RangeDashBytes(text, reading.end) == 0) break;
  }
  // Chords: "a ii–V–I progression".
  const bool chords = reading.words.size() > 2;
  if (reading.words.size() < 2 || (!parts && (!chords || !upper)) ||
      IsAsciiAlnum(ByteAt(text, reading.end)))
    return std::nullopt;
  return reading;
}

std::vector<std::string> ReadRomanNumeral(const NumberWords& numbers, std::string_view text,
                                          size_t end, std::string_view word,
                                          std::span<const SpokenWord> words) {
  // "Stage IIIB", "Type IIa".
  if (word.size() > 1 && !words.empty() && CountsInRoman(AsciiLower(words.back().text)) &&
      IsAmong("ABCabc", word.back())) {
    const unsigned value = ValueOf(word.substr(0, word.size() - 1));
    if (value > 0 && !IsAsciiAlnum(ByteAt(text, end))) {
      std::vector<std::string> reading = numbers.Cardinal(value);
      reading.push_back(Dotted(word.substr(word.size() - 1)));
      return reading;
    }
  }
  // "The XIVth century", but not German "Ist".
  if (word.size() > 2 && IsOneOf(word.substr(word.size() - 2), "nd", "rd", "st", "th")) {
    if (const unsigned value = ValueOf(word.substr(0, word.size() - 2)); value > 1)
      return numbers.Ordinal(value);
  }
  if (word.find_first_not_of("IVXLCDMivxl's") != std::string_view::npos) return {};
  // A year: "MCMXCIX".
  constexpr size_t kMinYearLetters = 4;
  if (const unsigned year = word.size() >= kMinYearLetters && word[0] == 'M' ? YearOf(word) : 0;
      year > 0 && !IsAsciiAlnum(ByteAt(text, end))) {
    return numbers.Year(year);
  }
  if (word.size() > kMaxLetters) return {};
  if (words.empty() && word.size() > 1 && CenturyFollows(text, end) && ValueOf(word) > 0)
    return numbers.Ordinal(ValueOf(word));
  const char follows = ByteAt(text, end);
  const bool flat = end > word.size() && IsSignOfChord(text, end - word.size());
  // "World War II and I agree."
  const bool pronoun = word == "I" && follows == ' ' && IsAsciiLower(ByteAt(text, end + 1));
  if ((flat || (!pronoun && ContinuesRoman(text, words))) && ValueOf(word) > 0 &&
      !IsAsciiAlnum(follows))
    return numbers.Cardinal(ValueOf(word));
  if (words.empty() || words.back().after != " ") return {};
  // "Sony A7 III", the third of its name.
  const size_t begin = end - std::min(end, word.size());
  if (word.size() > 1 && begin > 2 && IsAsciiDigit(text[begin - 2]) && ValueOf(word) > 0 &&
      !IsAsciiAlnum(follows))
    return numbers.Cardinal(ValueOf(word));
  const std::string& previous = words.back().text;
  if (word.size() == 1 && IsInitial(text, end, words)) return {};
  if (IsAsciiUpper(word[0])) {
    const bool possessive = word.ends_with("'s");
    const std::string_view numeral = word.substr(0, word.size() - (possessive ? 2 : 0));
    // "Elizabeth I was queen" has no "I".
    const bool reigns = numeral == "I" && IsRuler(previous) && RulerSpeaks(text, end, words);
    std::vector<std::string> reading =
        NumeralWords(numbers, numeral, words, reigns ? '.' : follows);
    if (reading.empty() && word.size() > 1 && CenturyFollows(text, end) && ValueOf(word) > 0)
      reading = numbers.Ordinal(ValueOf(word));
    if (possessive && !reading.empty()) reading.back() += "'s";
    return reading;
  }
  // "page xii", "Scene iv".
  const unsigned value = LowerRomanValue(word);
  if (value == 0 || IsAsciiAlnum(follows) || !CountsInRoman(AsciiLower(previous))) return {};
  return numbers.Cardinal(value);
}

}  // namespace millrace::models
