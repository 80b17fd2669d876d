#include "models/text/english/abbreviation_reader.h"

#include <algorithm>
#include <string>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/english/attributive.h"
#include "models/text/english/letter_run.h"
#include "models/text/english/one_of.h"
#include "models/text/english/spoken_abbreviations_text.h"
#include "models/text/english/word_kinds.h"
#include "models/text/english/written_phrases_text.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// The words of an abbreviation.
struct SpokenAbbreviation {
  // The context in which the written word is the abbreviation.
  enum class When {
    kAlways,            // "Mr", with a stop or without
    kStop,              // only with a stop: "Prof."
    kStopAndCapital,    // with a stop, where it begins with a capital: "Mar."
    kStopAndDigit,      // with a stop, before a number: "No. 5", "p. 42"
    kStopAndMore,       // with a stop, where the sentence goes on: "max. 5", "the min. is"
    kStopAndName,       // with a stop, before a capital: "St. Paul", "Mt. Everest"
    kStopAfterOrdinal,  // with a stop, after an ordinal: "3rd ed."
    kStopAfterName,     // with a stop, after a capitalised word and not before one: "Main St."
    kStopWithoutName    // with a stop, at the beginning or behind an article: "the ave. score"
  };
  std::string_view words;  // separated by spaces
  When when = When::kAlways;
};

using When = SpokenAbbreviation::When;

// Returns a meaning of an abbreviation that is written in lower case without its last stop: the
// first of "st" is a saint, the second a street.
std::optional<SpokenAbbreviation> FindSpokenAbbreviation(std::string_view word,
                                                         size_t meaning = 0) {
  static const WordTable<3> table(kSpokenAbbreviationsText);
  const auto meanings = table.FindAll(word);
  if (meaning >= meanings.size()) return std::nullopt;
  const auto& [written, words, when] = meanings[meaning];
  // In the order of When.
  constexpr std::string_view kWhen[] = {"always",        "stop",       "capital",
                                        "digit",         "more",       "name",
                                        "after-ordinal", "after-name", "without-name"};
  return SpokenAbbreviation{words, static_cast<When>(std::ranges::find(kWhen, when) - kWhen)};
}

constexpr size_t kMaxWordBytes = 6;
constexpr size_t kMaxDottedBytes = 16;

// Returns true for words such as "EST.", which is a time zone.
bool IsLongCapitals(std::string_view word) {
  return word.size() == 3 && IsAsciiUpper(word[1]) && (IsAsciiUpper(word[2]) || word[2] == 's');
}

// Returns true for numerals as in "vol. II", "p. iii".
bool IsRomanAt(std::string_view text, size_t at) {
  const std::string_view word = LettersAt(text, at, 7);
  if (word.empty() || word.size() > 6 || IsAsciiDigit(ByteAt(text, at + word.size()))) return false;
  return word.find_first_not_of("IVX") == word.npos ||
         (word.size() > 1 && word.find_first_not_of("ivx") == word.npos);
}

// Returns true for words that also end a sentence as themselves ("eg" never does).
bool IsPlainWord(std::string_view word) {
  return IsOneOf(word, "gen", "rev", "est", "co", "rep", "ms");
}

// Returns true for a part of a city behind a street: "Ave NW".
bool QuarterFollows(std::string_view text, size_t at) {
  if (ByteAt(text, at) != ' ' || IsAsciiAlnum(ByteAt(text, at + 3))) return false;
  return IsOneOf(text.substr(at + 1, 2), "NE", "NW", "SE", "SW");
}

bool NextIsCapital(std::string_view text, size_t at) {
  return ByteAt(text, at) == ' ' && IsUpper(DecodeAt(text, at + 1).value);
}

bool IsDeterminer(std::string_view word) {
  return IsOneOf(AsciiLower(word), "a", "an", "her", "his", "its", "my", "our", "the", "their");
}

// Returns true for what stands before the kind of a street: "Main St.", "5th Ave.".
bool NamesStreet(std::string_view word) {
  if (IsAsciiDigit(ByteAt(word, 0))) return IsAsciiLetter(word.back());
  return IsAsciiUpper(ByteAt(word, 0)) && !IsDeterminer(word);
}

// Returns true if the number of a house is before the name that ends before `at`: "1 Main St.
// Springfield", "12 Old Oak Dr. Salem".
bool IsBehindHouse(std::string_view text, size_t at) {
  constexpr size_t kMostWords = 3;
  for (size_t words = 0; words <= kMostWords && at > 1 && text[at - 1] == ' '; ++words) {
    const size_t end = at - 1;
    const size_t digits = DigitsBegin(text, end);
    if (digits < end) return words > 0 && (digits == 0 || text[digits - 1] == ' ');
    at = LettersBegin(text, end);
    if (at == end || !IsAsciiUpper(text[at])) return false;
  }
  return false;
}

// Returns true if what stands behind a street follows: "Main St. Apt. 4", "Elm St. NW".
bool EndsStreet(std::string_view text, size_t at) {
  if (QuarterFollows(text, at)) return true;
  return IsOfKind(LettersAt(text, at + 1), "behind-street");
}

// Returns true for "Ave. of the Americas" and "25 Ave. Montaigne".
bool IsAvenueOf(std::string_view text, std::string_view word, size_t end,
                std::string_view previous) {
  return word == "Ave" && (text.substr(end).starts_with(". of ") ||
                           (IsAsciiDigit(ByteAt(previous, 0)) && IsAsciiDigit(previous.back()) &&
                            NextIsCapital(text, end + 1)));
}

// Returns true if the word that ends at `end` is the abbreviation.
bool Applies(When when, std::string_view text, std::string_view word, size_t end,
             std::string_view previous, bool last) {
  const bool stop = ByteAt(text, end) == '.';
  switch (when) {
    case When::kAlways:
      // "JR" and "MR" may be initials of a name, and "HRs" are home runs.
      return !IsAsciiUpper(ByteAt(word, 1)) || (stop && !word.ends_with('s')) || word.size() > 3;
    case When::kStop:
      // "He shot 91% FT."
      if (word == "FT" && (previous.empty() || !IsAsciiDigit(previous.back()))) return false;
      // "$0.98 est." ends with an estimate.
      return stop &&
             !(last && IsPlainWord(word) &&
               (word != "est" || previous.empty() || !IsAsciiDigit(previous.back()))) &&
             !IsLongCapitals(word);
    case When::kStopAndCapital:
      return stop && IsAsciiUpper(word[0]) && !IsAsciiUpper(ByteAt(word, 1));
    case When::kStopAndDigit: {
      const size_t next = end + (ByteAt(text, end + 1) == ' ' ? 2 : 1);
      // "Est. in 1990" is no estimate.
      // "Born in 1950" may be "b. in 1950".
      const bool founded = stop && text.substr(next, 3) == "in " &&
                           (AsciiLower(word) == "est" ||
                            (IsOneOf(word, "b", "d") && IsAsciiDigit(ByteAt(text, next + 3))));
      // "Eq. (3)".
      const size_t number = next + (ByteAt(text, next) == '(' ? 1 : 0);
      // "3 P.2d" is no page.
      if (text.substr(end, 3) == ".2d" || text.substr(end, 3) == ".3d") return false;
      if (word == "cat" || word == "CAT") return false;  // an animal
      // The lineage "B.1.1.7" was not born.
      const size_t after = DigitsEnd(text, next);
      if (word.size() == 1 && ByteAt(text, after) == '.' && IsAsciiDigit(ByteAt(text, after + 1)))
        return false;
      // Nobody died in "D. 960".
      if (word == "D" && (!previous.empty() || after < next + 4)) return false;
      // "Model No. WH-1000".
      if (stop && (word == "No" || word == "no") && IsAsciiUpper(ByteAt(text, next))) {
        const std::string_view code = text.substr(next, text.find(' ', next) - next);
        if (std::ranges::any_of(code, IsAsciiDigit)) return true;
      }
      // "The tracking no. is".
      if (stop && word == "no" && IsOfKind(AsciiLower(previous), "numbered-by-name") &&
          ByteAt(text, end + 1) == ' ')
        return true;
      // "No. of rooms".
      if (stop && word == "No" && text.substr(end + 1).starts_with(" of ")) return true;
      // "Fig. A", "apt. C".
      const bool lettered =
          IsOneOf(AsciiLower(word), "app", "apt", "bldg", "fig", "rev", "rm") &&
          IsAsciiUpper(ByteAt(text, next)) && !IsAsciiAlnum(ByteAt(text, next + 1)) &&
          !(text.substr(next + 1, 2) == ". " && AsciiLower(word) == "rev");  // "Rev. J. Smith"
      // "Est. 3 km" is an estimate.
      if (AsciiLower(word) == "est" && after > next && after != next + 4) return false;
      return stop && (IsAsciiDigit(ByteAt(text, number)) || ByteAt(text, number) == '#' ||
                      lettered || IsRomanAt(text, next) || founded);
    }
    case When::kStopAndMore: {
      const size_t next = end + (ByteAt(text, end + 1) == ' ' ? 2 : 1);
      return stop && (IsAsciiDigit(ByteAt(text, next)) || ByteAt(text, next) == ':' ||
                      (next == end + 2 && IsAsciiLower(ByteAt(text, next))));
    }
    case When::kStopAndName:
      // "John D. Rockefeller" has an initial.
      return stop && NextIsCapital(text, end + 1) && !(word.size() == 1 && IsAsciiUpper(word[0])) &&
             !(NamesStreet(previous) &&
               (EndsStreet(text, end + 1) || IsBehindHouse(text, end - word.size())));
    case When::kStopAfterOrdinal:
      return stop && IsAsciiDigit(ByteAt(previous, 0)) && IsAsciiLetter(previous.back());
    case When::kStopAfterName:
      return stop && (NamesStreet(previous) || IsAvenueOf(text, word, end, previous));
    case When::kStopWithoutName:
      return stop && !last && (previous.empty() || IsDeterminer(previous));
  }
  return false;
}

// Returns true if a time of day or a date follows: "Sat 4pm", "Sun 5th", "Sat 3 May".
bool DayFollows(std::string_view text, size_t at) {
  if (ByteAt(text, at) == ',') ++at;
  if (ByteAt(text, at) != ' ') return false;
  const size_t end = DigitsEnd(text.substr(0, at + 4), at + 1);
  size_t next = end;
  if (end == at + 1) {
    return BeginsWithOne(text.substr(at + 1),
                         "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|morning|night|evening|"
                         "closed");
  }
  if (ByteAt(text, next) == ' ') ++next;
  const std::string rest = AsciiLower(text.substr(next, 3));
  // "Sat 10-4".
  const CodePoint dash = DecodeAt(text, end);
  if ((dash.value == '-' || dash.value == U'–') && IsAsciiDigit(ByteAt(text, end + dash.bytes)))
    return true;
  return IsOneOf(rest.substr(0, 2), "am", "nd", "pm", "rd", "st", "th") ||
         IsOneOf(rest, "a.m", "p.m") || rest.starts_with(':') ||
         (rest.size() == 3 && DayFollows(text, end));
}

// Reads abbreviations that people write with a capital and without a stop: "Elm St, Apt 5", "Tue,
// Dec 1st".
std::optional<Reading> ReadWithoutStop(std::string_view text, std::string_view word,
                                       std::string_view lower, size_t end,
                                       std::string_view previous) {
  // "Roe v Wade".
  if (word == "v" && NextIsCapital(text, end) && IsAsciiUpper(ByteAt(previous, 0)))
    return Reading{end, {"versus"}};
  if (!IsAsciiUpper(word[0])) return std::nullopt;
  if (word == "WWI" || word == "WWII")
    return Reading{end, {"World", "War", word.size() == 3 ? "one" : "two"}};
  const auto meaning = [lower](When when) -> std::optional<std::string_view> {
    size_t place = 0;
    while (const auto known = FindSpokenAbbreviation(lower, place++)) {
      if (known->when == when) return known->words;
    }
    return std::nullopt;
  };
  // A street's kind follows its name and ends the name.
  if (NamesStreet(previous) && !IsAsciiLetter(ByteAt(text, end)) &&
      (!NextIsCapital(text, end) || QuarterFollows(text, end))) {
    if (const auto street = meaning(When::kStopAfterName))
      return Reading{end, {std::string(*street)}};
  }
  if (ByteAt(text, end) == ' ' && IsAsciiDigit(ByteAt(text, end + 1))) {
    // "No 1 in the charts", but "No 2 people are alike".
    const size_t number = DigitsEnd(text.substr(0, end + kMaxWordBytes), end + 1);
    if (word == "No" && !PluralFollows(text, number) && !IsAmong("-%,:", ByteAt(text, number)) &&
        !IsOfKind(LettersAt(text, number + 1), "counted-behind-no"))
      return Reading{end, {"number"}};
    if (word == "Fl") return Reading{end, {"floor"}};
    if (IsListed(word, " Apt Bldg Ch Est Ext Fig Figs Hwy Mk Pg Rm Rte Sec Ste Vol Wk "))
      return Reading{
          end,
          {std::string(
              meaning(When::kStopAndDigit).value_or(FindSpokenAbbreviation(lower)->words))}};
  }
  if (word == "Mk" && ByteAt(text, end) == ' ' && IsRomanAt(text, end + 1))
    return Reading{end, {"mark"}};
  if (!IsListed(word, " Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun ")) return std::nullopt;
  const bool timed = IsOneOf(previous, "closed", "every", "last", "next", "on");
  // "Sun., Oct. 6".
  if (text.substr(end, 2) == ".,") ++end;
  // "Mon", "Sat" and "Sun" may be other words.
  const bool sure = word[0] == 'T' || word == "Fri";
  // "Mon & Wed", "Sat. and Sun."
  bool both = false;
  for (const std::string_view day : {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}) {
    for (const std::string joint : {" & ", " and ", ". & ", ". and ", "/"}) {
      both = both || text.substr(end).starts_with(joint + std::string(day)) ||
             text.substr(0, end - word.size()).ends_with(std::string(day) + joint);
    }
  }
  if (!sure && !timed && !both && !DayFollows(text, end)) return std::nullopt;
  return Reading{end, {std::string(FindSpokenAbbreviation(lower)->words)}};
}

// Returns true if the text is at `at`, in which # is a digit and ^ a capital.
bool Follows(std::string_view text, size_t at, std::string_view follows) {
  return std::ranges::all_of(follows, [&](char c) {
    const char next = ByteAt(text, at++);
    return c == '#' ? IsAsciiDigit(next) : c == '^' ? IsAsciiUpper(next) : c == next;
  });
}

// Reads what is read as a whole: "n/a", "N. Korea", "Fed. R. Civ. P.". end: that of its first word.
std::optional<Reading> ReadPhrase(std::string_view text, std::string_view word, size_t end) {
  static const WordTable<3> phrases(kWrittenPhrasesText);
  for (const auto& [first, rest, words] : phrases.FindAll(word)) {
    const size_t bar = std::min(rest.find('|'), rest.size());
    const size_t behind = end + bar;
    if (text.substr(end, bar) != rest.substr(0, bar)) continue;
    if (bar < rest.size() ? !Follows(text, behind, rest.substr(bar + 1))
                          : IsAsciiAlnum(text[behind - 1]) && IsAsciiAlnum(ByteAt(text, behind)))
      continue;
    Reading reading{behind, {}};
    reading.AppendEach(words);
    // "N. Korea's".
    const CodePoint mark = DecodeAt(text, behind);
    if (IsApostrophe(mark.value) && LettersAt(text, behind + mark.bytes) == "s") {
      reading.words.back() += "'s";
      reading.end += mark.bytes + 1;
    }
    return reading;
  }
  return std::nullopt;
}

// Reads "c/o", and "y/o" as in "he is 45 y/o" and "a 45 y/o man", which ends at `end`.
Reading ReadSlashedO(std::string_view text, bool care, size_t end) {
  if (care) return {end, {"care", "of"}};
  const char sex = ByteAt(text, end + 1);
  const bool belongs =
      NounFollows(text, end) || (ByteAt(text, end) == ' ' && (sex == 'M' || sex == 'F') &&
                                 !IsAsciiAlnum(ByteAt(text, end + 2)));
  return {end, {belongs ? "year" : "years", "old"}};
}

}  // namespace

std::optional<Reading> ReadAbbreviation(std::string_view text, size_t at, size_t end,
                                        std::string_view previous, bool last) {
  const std::string_view word = text.substr(at, end - at);
  if (word.empty() || word.size() > kMaxWordBytes) return std::nullopt;
  const std::string lower_word = AsciiLower(word);
  const std::string_view lower = lower_word;
  // "The WHO cares" has the organisation.
  if (word != "WHO" || !IsDeterminer(previous)) {
    if (auto phrase = ReadPhrase(text, word, end)) return phrase;
  }
  if (lower == "b" && AsciiLower(text.substr(end, 2)) == "/w" &&
      !IsAsciiAlnum(ByteAt(text, end + 2))) {
    if (MeasuredFollows(text, end + 2)) return Reading{end + 2, {"black", "and", "white"}};
    return Reading{end + 2, {"between"}};
  }
  if (word == "w" && ByteAt(text, end) == '/') {
    const bool without = ByteAt(text, end + 1) == 'o' && !IsAsciiAlnum(ByteAt(text, end + 2));
    return Reading{end + (without ? 2 : 1), {without ? "without" : "with"}};
  }
  // "v. 3.2.1" is no verse.
  const size_t number = end + (ByteAt(text, end + 1) == ' ' ? 2 : 1);
  if (lower == "v" && ByteAt(text, end) == '.' && IsAsciiDigit(ByteAt(text, number)) &&
      ByteAt(text, DigitsEnd(text, number)) == '.' &&
      IsAsciiDigit(ByteAt(text, DigitsEnd(text, number) + 1)))
    return Reading{end + 1, {"version"}};
  if ((lower == "c" || lower == "y") && AsciiLower(text.substr(end, 2)) == "/o" &&
      !IsAsciiAlnum(ByteAt(text, end + 2)))
    return ReadSlashedO(text, lower == "c", end + 2);
  // A department, not an hour.
  if (word == "HR") return std::nullopt;
  // A musician is no fort: "Sicko Mode ft. Drake".
  if (word == "ft" && ByteAt(text, end) == '.' && NextIsCapital(text, end + 1) &&
      !IsAsciiDigit(ByteAt(previous, 0)))
    return Reading{end + 1, {"featuring"}};
  size_t place = 0;
  while (const auto known = FindSpokenAbbreviation(lower, place++)) {
    // "Djokovic d. Alcaraz".
    if (lower == "d" && place > 1 && !NamesStreet(previous)) break;
    if (!Applies(known->when, text, word, end, previous, last)) continue;
    // Nobody flourished in "Fl. 3".
    if (lower == "fl" && place == 1 && DigitsEnd(text, number, 3) < number + 3)
      return Reading{end + 1, {"floor"}};
    return ReadAs(end + (ByteAt(text, end) == '.' ? 1 : 0), known->words);
  }
  // The first rank of "Maj.-Gen. Fuller".
  if (text.substr(end, 2) == ".-" && IsAsciiUpper(word[0]) && IsAsciiUpper(ByteAt(text, end + 2))) {
    if (const auto rank = FindSpokenAbbreviation(lower); rank && rank->when == When::kStopAndName)
      return Reading{end + 2, {std::string(rank->words)}};
  }
  // "Dr Smith", "St Paul" without a stop.
  const bool title = word == "Dr" || word == "St" || word == "Mt" || word == "Ms";
  if (title && NextIsCapital(text, end)) {
    return ReadAs(end, FindSpokenAbbreviation(lower)->words);
  }
  return ReadWithoutStop(text, word, lower, end, previous);
}

std::optional<Reading> ReadDotted(std::string_view text, size_t at) {
  Reading reading{at, {}};
  size_t& end = reading.end;
  size_t stops = 0;
  bool single = true;
  while (end - at < kMaxDottedBytes) {
    const size_t letters = LettersEnd(text, end, 3) - end;
    if (letters == 0 || letters > 2 || ByteAt(text, end + letters) != '.') break;
    single = single && letters == 1;
    end += letters + 1;
    ++stops;
  }
  if (stops < 2 || (at > 0 && IsAsciiAlnum(text[at - 1]))) return std::nullopt;
  if (LettersEnd(text, end, 2) > end + 1) return std::nullopt;
  const std::string_view written = text.substr(at, end - at);
  // "Ph.D.s" are several.
  if (ByteAt(text, end) == 's' && !IsAsciiAlnum(ByteAt(text, end + 1))) {
    std::string plural = AsciiUpper(written);
    std::erase(plural, '.');
    return Reading{end + 1, {plural + "s"}};
  }
  if (const auto known =
          FindSpokenAbbreviation(AsciiLower(written.substr(0, written.size() - 1)))) {
    reading.AppendEach(known->words);
    return reading;
  }
  if (!single) return std::nullopt;
  reading.Append(AsciiUpper(written));
  return reading;
}

}  // namespace millrace::models
