#include "models/text/english/spoken_code.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "models/text/ascii.h"
#include "models/text/english/attributive.h"
#include "models/text/english/hex_code.h"
#include "models/text/english/letter_run.h"
#include "models/text/english/one_of.h"
#include "models/text/english/word_kinds.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Returns true if the text goes on with what has the number of a status: "a 404 page".
bool StatusFollows(std::string_view text, size_t at) {
  return BeginsWithOne(AsciiLower(text.substr(at, 12)),
                       " error| page| response| not found| status| redirect| forbidden");
}

// Returns "four oh four", "four hundred" and "four twenty nine".
std::vector<std::string> StatusWords(const NumberWords& numbers, uint64_t status) {
  std::vector<std::string> words = numbers.Cardinal(status / 100);
  const uint64_t rest = status % 100;
  if (rest == 0) {
    words.emplace_back("hundred");
    return words;
  }
  if (rest < 10) words.emplace_back("oh");
  for (std::string& word : numbers.Cardinal(rest)) words.push_back(std::move(word));
  return words;
}

// Returns true for three digits that are read as "one oh one" where they are a name.
bool HasInnerZero(std::string_view digits) {
  return digits.size() == 3 && digits[0] != '0' && digits[1] == '0' && digits[2] != '0';
}

// Reads numbers that are names: "dial 911", "ZIP code 10001".
std::optional<Reading> ReadNamedCode(const NumberWords& numbers, std::string_view text, size_t at,
                                     const NumberContext& context) {
  constexpr size_t kMaxDigits = 8;
  const size_t end = DigitsEnd(text, at, kMaxDigits + 1);
  const std::string_view digits = text.substr(at, end - at);
  if (digits.size() < 3 || digits.size() > kMaxDigits) return std::nullopt;
  const char follows = ByteAt(text, end);
  if (IsAsciiLetter(follows) || follows == '%' ||
      ((follows == ',' || follows == '.' || follows == '-') &&
       IsAsciiDigit(ByteAt(text, end + 1)))) {
    return std::nullopt;
  }
  const bool service =
      digits.size() == 3 && (digits.ends_with("11") || digits == "999" || digits == "112" ||
                             digits == "000" || digits == "988");
  // "Dial 911, or 112 in Europe", "text 88022".
  const bool abroad = (context.previous.empty() || context.previous == "or") &&
                      text.substr(end, 4) == " in " && IsAsciiUpper(ByteAt(text, end + 4));
  const bool short_code = digits.size() >= 4 && context.telephone &&
                          (context.previous == "text" || context.previous == "dial" ||
                           (context.previous == "to" && digits.size() >= 5));
  constexpr size_t kTelephone = 7;
  const bool dialled = digits.size() >= kTelephone && context.telephone && !digits.ends_with("000");
  const bool called = (service && (context.telephone || abroad)) || short_code || dialled;
  // "Reservation 88213", but "order 50000 masks".
  constexpr size_t kLongName = 5;
  const bool name = digits.size() >= kLongName && IsOfKind(context.previous, "named-by-number") &&
                    !digits.ends_with("000") && !PluralFollows(text, end) &&
                    !(digits.size() == kMaxDigits && context.previous == "id");  // a date
  if (!called && !name && !context.code && !NamesCode(context.previous)) return std::nullopt;
  return Reading{end, numbers.Digits(digits)};
}

// Reads the digits of "#12345-67" and "order 114-3941689".
std::optional<Reading> ReadHyphenatedCode(const NumberWords& numbers, std::string_view text,
                                          size_t at, bool named, std::string_view previous) {
  constexpr size_t kMaxDigits = 16;
  constexpr size_t kMinDigits = 5;  // "order 3-5" is a range
  constexpr size_t kLongGroup = 5;  // no year
  const bool numbered = at > 0 && text[at - 1] == '#';
  std::string digits;
  size_t end = at;
  size_t groups = 0;
  size_t long_groups = 0;
  do {
    const size_t begin = end + (groups > 0 ? 1 : 0);
    end = DigitsEnd(text, begin, kMaxDigits);
    digits += text.substr(begin, end - begin);
    ++groups;
    if (end - begin >= kLongGroup) ++long_groups;
  } while (ByteAt(text, end) == '-' && IsAsciiDigit(ByteAt(text, end + 1)) && groups < kMaxDigits);
  // "73-19-55" is the code of a lock; "114-3941689-8772232" is one wherever it stands.
  if (!numbered && !named && !IsOfKind(previous, "named-by-number") &&
      (groups < 3 || long_groups == 0))
    return std::nullopt;
  if (groups < 2 || IsAsciiAlnum(ByteAt(text, end)) || (named && digits.size() == 2 * groups))
    return std::nullopt;
  // "#10-32 screws" have a size.
  if (digits.size() < kMinDigits &&
      (!numbered || IsOneOf(LettersAt(text, end + 1), "bolts", "screw", "screws")))
    return std::nullopt;
  return Reading{end, numbers.Digits(digits)};
}

// Reads the digits between hyphens of a code in capitals, "AB-1234-XY" and "INV-2024-0042", and of
// two letters and four digits, "BA-2490", but not those of "F-150".
std::optional<Reading> ReadCodeOfParts(const NumberWords& numbers, std::string_view text,
                                       size_t at) {
  constexpr size_t kMaxDigits = 8;
  constexpr size_t kMaxCode = 24;
  const size_t end = DigitsEnd(text, at, kMaxDigits + 1);
  if (at < 3 || text[at - 1] != '-' || end - at < 3 || end - at > kMaxDigits) return std::nullopt;
  const auto is_part = [](char c) { return IsAsciiUpper(c) || IsAsciiDigit(c) || c == '-'; };
  size_t begin = at;
  while (begin > 0 && at - begin < kMaxCode && is_part(text[begin - 1])) --begin;
  if (begin > 0 && IsAsciiAlnum(text[begin - 1])) return std::nullopt;
  const size_t letters = LettersEnd(text.substr(0, at), begin) - begin;
  if (letters == 0) return std::nullopt;
  const bool parts = text.substr(begin, at - 1 - begin).find('-') != std::string_view::npos;
  const bool more = ByteAt(text, end) == '-' &&
                    (IsAsciiUpper(ByteAt(text, end + 1)) || IsAsciiDigit(ByteAt(text, end + 1)));
  const bool flight =
      letters == 2 && end - at == 4 && text[at] != '1' && text.substr(at, 2) != "20";
  // "A-10293".
  constexpr size_t kLong = 5;
  const bool is_long = letters == 1 && end - at >= kLong;
  if (IsAsciiAlnum(ByteAt(text, end)) || (!parts && !more && !flight && !is_long))
    return std::nullopt;
  // "A-1234-B", but not "F-150".
  if (letters == 1 && !is_long && (!more || end - at < 4)) return std::nullopt;
  return Reading{end, numbers.Digits(text.substr(at, end - at))};
}

// Reads three digits that a hyphen joins to a name: "F-150", "Blink-182", "uranium-235" and the
// plural "F-150s", but not the range of "Mid-150".
std::optional<Reading> ReadNameWithNumber(const NumberWords& numbers, std::string_view text,
                                          size_t at) {
  constexpr size_t kDigits = 3;
  constexpr size_t kMaxLetters = 16;
  const size_t end = DigitsEnd(text, at, kDigits + 1);
  if (at < 2 || text[at - 1] != '-' || end != at + kDigits || text[at] == '0') return std::nullopt;
  const std::string_view name = LettersBefore(text, at - 1, kMaxLetters);
  const size_t begin = at - 1 - name.size();
  if (name.empty() || (begin > 0 && !IsAmong(" (\"'", text[begin - 1]))) return std::nullopt;
  if (!IsAsciiUpper(name[0]) && !IsOfKind(name, "isotope")) return std::nullopt;
  const bool plural = ByteAt(text, end) == 's' && !IsAsciiAlnum(ByteAt(text, end + 1));
  const char follows = ByteAt(text, end);
  if ((!plural && IsAsciiAlnum(follows)) || IsAmong("%/", follows) ||
      (IsAmong("-.,", follows) && IsAsciiAlnum(ByteAt(text, end + 1))))
    return std::nullopt;
  Reading reading{end, StatusWords(numbers, ParseDigits(text.substr(at, kDigits)))};
  if (plural) {
    std::string& last = reading.words.back();
    if (last.ends_with('y')) last.replace(last.size() - 1, 1, "ie");
    last += 's';
    ++reading.end;
  }
  return reading;
}

// Reads the parts and the year of "EN 60601-1:2006" and "BS EN 1991-1-1".
std::optional<Reading> ReadStandard(const NumberWords& numbers, std::string_view text, size_t at,
                                    std::string_view previous) {
  if (at < 3 || !IsAsciiUpper(text[at - 2]) || text[at - 1] != ' ' ||
      !IsOfKind(previous, "body-of-standards"))
    return std::nullopt;
  constexpr size_t kMaxDigits = 6;
  constexpr size_t kYear = 4;
  Reading reading{at, {}};
  size_t parts = 0;
  for (size_t begin = at;; ++parts) {
    const size_t end = DigitsEnd(text, begin, kMaxDigits + 1);
    if (end == begin || end - begin > kMaxDigits) break;
    const std::string_view digits = text.substr(begin, end - begin);
    const char joint = parts == 0 ? ' ' : text[begin - 1];
    if (joint == '-') reading.Append("dash");
    reading.Append(joint == ':' && digits.size() == kYear
                       ? numbers.Year(static_cast<unsigned>(ParseDigits(digits)))
                       : numbers.Whole(digits));
    reading.end = end;
    if (ByteAt(text, end) != '-' && ByteAt(text, end) != ':') {
      ++parts;
      break;
    }
    begin = end + 1;
  }
  if (parts < 2 || IsAsciiAlnum(ByteAt(text, reading.end))) return std::nullopt;
  return reading;
}

// Reads the slash of numbers that are names: "No. 5/2020", "case C-311/18", "Directive 95/46/EC".
std::optional<Reading> ReadSlashedCode(const NumberWords& numbers, std::string_view text, size_t at,
                                       std::string_view previous) {
  const bool lettered = at > 1 && text[at - 1] == '-' && IsAsciiUpper(text[at - 2]);
  if (!lettered && !IsOfKind(previous, "numbered-document")) return std::nullopt;
  constexpr size_t kMaxDigits = 4;
  const size_t slash = DigitsEnd(text, at, kMaxDigits + 1);
  const size_t second = slash + 1;
  size_t end = DigitsEnd(text, second, kMaxDigits + 1);
  if (slash == at || ByteAt(text, slash) != '/' || end == second || IsAsciiAlnum(ByteAt(text, end)))
    return std::nullopt;
  const auto append = [&](std::string_view digits, Reading& reading) {
    const bool year =
        digits.size() == kMaxDigits && (digits.starts_with("19") || digits.starts_with("20"));
    // "T-201/04" is "two oh one slash oh four".
    const bool zero = digits.size() == 2 && digits[0] == '0';
    if (zero) reading.Append("oh");
    reading.Append(year                   ? numbers.Year(static_cast<unsigned>(ParseDigits(digits)))
                   : HasInnerZero(digits) ? StatusWords(numbers, ParseDigits(digits))
                                          : numbers.Whole(digits.substr(zero ? 1 : 0)));
  };
  Reading reading{end, {}};
  append(text.substr(at, slash - at), reading);
  reading.Append("slash");
  append(text.substr(second, end - second), reading);
  if (ByteAt(text, end) == '/' && IsAsciiUpper(ByteAt(text, end + 1))) {
    reading.Append("slash");
    ++reading.end;
  }
  return reading;
}

// Reads "runway 27L" as "two seven left".
std::optional<Reading> ReadRunway(const NumberWords& numbers, std::string_view text, size_t at,
                                  std::string_view previous) {
  const size_t end = DigitsEnd(text, at, 3);
  // "Runway: 18 mos".
  if ((previous != "runway" && previous != "runways") || end == at || end > at + 2 ||
      text.substr(0, at).ends_with(": "))
    return std::nullopt;
  Reading reading{end, numbers.Digits(text.substr(at, end - at))};
  const char side = ByteAt(text, end);
  if ((side == 'L' || side == 'R' || side == 'C') && !IsAsciiAlnum(ByteAt(text, end + 1))) {
    reading.Append(side == 'L' ? "left" : side == 'R' ? "right" : "center");
    ++reading.end;
  }
  return reading;
}

// Reads the names of airplanes, "737-800" and "Boeing 747", and of the networks "802.11".
std::optional<Reading> ReadModel(const NumberWords& numbers, std::string_view text, size_t at,
                                 std::string_view previous) {
  constexpr size_t kDigits = 3;
  if (text.substr(at).starts_with("802.11") && !IsAsciiDigit(ByteAt(text, at + 6))) {
    Reading reading{LettersEnd(text.substr(0, at + 9), at + 6),
                    {"eight", "oh", "two", "point", "eleven"}};
    // "802.11b/g/n".
    while (ByteAt(text, reading.end) == '/' && IsAsciiLower(ByteAt(text, reading.end + 1)) &&
           !IsAsciiAlnum(ByteAt(text, reading.end + 2)))
      reading.end += 2;
    for (size_t i = at + 6; i < reading.end; ++i)
      if (text[i] != '/')
        reading.Append(std::string(1, static_cast<char>(std::toupper(text[i]))) + ".");
    return reading;
  }
  const size_t end = DigitsEnd(text, at, kDigits + 1);
  if (end != at + kDigits || text[at] != '7' || text[at + 2] != '7') return std::nullopt;
  const size_t variant = end + 1;
  const bool has_variant = ByteAt(text, end) == '-' &&
                           DigitsEnd(text, variant, kDigits + 1) == end + 4 &&
                           text.substr(variant + 1, 2) == "00";
  const bool ends =
      end >= text.size() || (IsAmong(".,;:!?)", text[end]) && !IsAsciiDigit(ByteAt(text, end + 1)));
  const bool plural = ByteAt(text, end) == 's' && !IsAsciiAlnum(ByteAt(text, end + 1));
  const bool named = plural || text.substr(end).starts_with(" MAX") ||
                     (previous == "boeing" && !IsAsciiAlnum(ByteAt(text, end))) ||
                     (IsOneOf(previous, "a", "the") &&
                      (!NounFollows(text, end) || IsOfKind(LettersAt(text, end + 1), "aircraft")) &&
                      (ends || ByteAt(text, end) == ' ' || ByteAt(text, end) == '\''));
  if (!has_variant && !named) return std::nullopt;
  Reading reading{end, numbers.Cardinal(7)};
  reading.Append(text[at + 1] == '0' ? std::vector<std::string>{"oh", "seven"}
                                     : numbers.Cardinal(ParseDigits(text.substr(at + 1, 2))));
  if (has_variant) {
    reading.Append(numbers.Cardinal(ParseDigits(text.substr(variant, kDigits))));
    reading.end = variant + kDigits;
  } else if (plural) {
    reading.words.back() += 's';
    ++reading.end;
  }
  return reading;
}

// Reads the names of accounts, "401(k)", of cards and standards, "RTX 4090", of calibers, ".45
// caliber", and of averages, "he hit .312".
std::optional<Reading> ReadNumberedName(const NumberWords& numbers, std::string_view text,
                                        size_t at, std::string_view previous) {
  const bool pointed = ByteAt(text, at) == '.';
  const size_t begin = at + (pointed ? 1 : 0);
  const size_t end = DigitsEnd(text, begin, 5);
  const std::string_view digits = text.substr(begin, end - begin);
  const uint64_t value = ParseDigits(digits);
  if (pointed) {
    const bool caliber = (digits.size() == 2 || digits.size() == 3) &&
                         IsOfKind(AsciiLower(LettersAt(text, end + 1)), "gun");
    const bool average = digits.size() == 3 && IsOfKind(previous, "bats");
    if (caliber)
      return Reading{end,
                     digits.size() == 2 ? numbers.Cardinal(value) : StatusWords(numbers, value)};
    if (average) return Reading{end, StatusWords(numbers, value)};
    // "A .300 hitter".
    if (digits.size() == 3 && IsOneOf(LettersAt(text, end + 1), "average", "batter", "hitter"))
      return Reading{end, StatusWords(numbers, value)};
    return std::nullopt;
  }
  // Standards, "H.264" and "X.509", and flights: "flight 370".
  constexpr size_t kHundreds = 3;
  const bool standard = begin > 1 && text[begin - 1] == '.' && IsAsciiUpper(text[begin - 2]) &&
                        (begin == 2 || !IsAsciiAlnum(text[begin - 3]));
  // "Flight UA 328" has the letters of its airline.
  const bool airline = begin > 4 && text[begin - 1] == ' ' && IsAsciiUpper(text[begin - 2]) &&
                       (text.substr(0, begin - 3).ends_with("light ") ||
                        text.substr(0, begin - 3).ends_with("lights "));
  // "A Porsche 911", "a Peugeot 208", "Levi's 501".
  const bool model = IsOneOf(previous, "levi's", "levis", "peugeot", "porsche");
  const bool flight = (previous == "flight" || airline || model) && ByteAt(text, end) != '-';
  // "I-405", "US-101".
  const std::string_view before = text.substr(0, begin);
  const bool road = (before.ends_with("I-") && (begin == 2 || !IsAsciiAlnum(text[begin - 3]))) ||
                    before.ends_with("US-");
  // "A 529 plan", "take the 405".
  const bool plan = digits == "529" && IsOfKind(LettersAt(text, end + 1), "plan");
  const bool taken = EndsWithOne(before, " off the | on the |ake the |aking the |took the ");
  const std::string_view way = LettersAt(text, end + 1);
  const bool led = taken && IsOneOf(way, "east", "freeway", "north", "south", "west");
  const bool freeway = previous == "the" && digits.size() == kHundreds && digits[1] == '0' &&
                       digits[2] != '0' && (led || !NounFollows(text, end)) &&
                       (taken || !IsAmong(".,", ByteAt(text, end)));
  // "Room 101", "suite 204B", and the first course of a subject, "Economics 101".
  const char letter = ByteAt(text, end);
  const bool lettered = IsAsciiUpper(letter) && !IsAsciiAlnum(ByteAt(text, end + 1));
  const bool subject = digits == "101" && !PluralFollows(text, end) && before.ends_with(' ') &&
                       before.find(' ') + 1 < before.size() &&
                       IsAsciiUpper(text[LettersBegin(text, begin - 1)]);
  if (HasInnerZero(digits) && (subject || IsOfKind(previous, "numbered-with-oh")) &&
      (lettered || !IsAsciiAlnum(letter)) && !IsAmong("-–%", letter))
    return Reading{end, StatusWords(numbers, value)};
  if (digits.size() == kHundreds && digits[0] != '0' && !IsAsciiAlnum(ByteAt(text, end)) &&
      (standard || flight || road || plan || freeway))
    return Reading{end, StatusWords(numbers, value)};
  // The lines of a picture: "720p", "2160p60".
  constexpr std::string_view kLines = "240 360 480 576 720 1440 2160 4320";
  if (ByteAt(text, end) == 'p' && !IsAsciiLetter(ByteAt(text, end + 1)) && IsListed(digits, kLines))
    return Reading{end, digits.size() == kHundreds ? StatusWords(numbers, value)
                                                   : numbers.Year(static_cast<unsigned>(value))};
  if (digits.size() == 3 && digits[1] == '0' && digits[2] != '0') {
    const bool account = ByteAt(text, end) == '(' && IsAsciiLower(ByteAt(text, end + 1)) &&
                         ByteAt(text, end + 2) == ')';
    if (account ||
        (digits == "401" && ByteAt(text, end) == 'k' && !IsAsciiAlnum(ByteAt(text, end + 1))))
      return Reading{end, StatusWords(numbers, value)};
  }
  // The company, but "3M users" are three million.
  if (digits == "3" && text.substr(end).starts_with('M') && !IsAsciiAlnum(ByteAt(text, end + 1)) &&
      (IsApostrophe(DecodeAt(text, end + 1).value) ||
       (ByteAt(text, end + 1) == ' ' && IsOfKind(LettersAt(text, end + 2), "behind-company")) ||
       (!NounFollows(text, end + 1) && (previous.empty() || IsOfKind(previous, "before-company")))))
    return Reading{end + 1, {"three", "M."}};
  // Capitals without a vowel before four digits.
  if (digits.size() != 4 || begin < 3 || text[begin - 1] != ' ' || digits[0] < '2' ||
      IsAsciiAlnum(ByteAt(text, end)) ||
      (ByteAt(text, end) == '.' && IsAsciiDigit(ByteAt(text, end + 1))) || PluralFollows(text, end))
    return std::nullopt;
  size_t letters = begin - 1;
  while (letters > 0 && IsAsciiUpper(text[letters - 1])) --letters;
  const std::string_view name = text.substr(letters, begin - 1 - letters);
  if (name.size() < 2 || name.size() > 4 || (letters > 0 && text[letters - 1] != ' ') ||
      name.find_first_of("AEIOU") != name.npos || value % 1000 < 10)
    return std::nullopt;
  return Reading{end, numbers.Year(static_cast<unsigned>(value))};
}

// Reads the status of HTTP, the mode of a file and a port.
std::optional<Reading> ReadProgrammersCode(const NumberWords& numbers, std::string_view text,
                                           size_t at, std::string_view previous) {
  constexpr size_t kMaxDigits = 5;
  const size_t end = DigitsEnd(text, at, kMaxDigits + 1);
  const std::string_view digits = text.substr(at, end - at);
  const char follows = ByteAt(text, end);
  if (digits.size() < 3 || digits.size() > kMaxDigits || IsAsciiAlnum(follows) || follows == '%' ||
      ((follows == ',' || follows == '.') && IsAsciiDigit(ByteAt(text, end + 1)))) {
    return std::nullopt;
  }
  const bool octal = std::ranges::all_of(digits, [](char c) { return c < '8'; });
  if (previous == "chmod" || previous == "umask") {
    if (!octal || digits.size() > 4) return std::nullopt;
    return Reading{end, numbers.Digits(digits)};
  }
  // "Port 3000" is three thousand.
  if ((previous == "port" || previous == "ports") && !digits.ends_with("00"))
    return Reading{end, numbers.Digits(digits)};
  // "It returns a 404."
  const bool alone = IsOfKind(digits, "common-status") && !digits.ends_with("00") &&
                     previous == "a" && (follows == '\0' || IsAmong(",.;:!?)", follows));
  const bool returned = IsOfKind(digits, "common-status") && !PluralFollows(text, end) &&
                        IsOneOf(previous, "returned", "returning", "returns");
  const bool named = alone || returned || previous == "http" || previous == "https" ||
                     previous == "status" || previous == "error" ||
                     (IsOfKind(digits, "common-status") && StatusFollows(text, end));
  if (!named || digits.size() != 3 || digits[0] < '1' || digits[0] > '5') return std::nullopt;
  return Reading{end, StatusWords(numbers, ParseDigits(digits))};
}

}  // namespace

bool NamesCode(std::string_view word) { return IsOfKind(word, "code"); }

std::optional<Reading> ReadCodeBehindLetters(const NumberWords& numbers, std::string_view text,
                                             size_t at) {
  constexpr size_t kFewestDigits = 3;
  if (at == 0 || !IsAsciiLetter(text[at - 1])) return std::nullopt;
  const size_t end = DigitsEnd(text, at);
  const std::string_view digits = text.substr(at, end - at);
  const bool neo = text.substr(end, 3) == "neo";
  if (digits.size() < kFewestDigits || (IsAsciiLower(ByteAt(text, end)) && !neo))
    return std::nullopt;
  // "AD2000".
  constexpr size_t kYear = 4;
  if (digits.size() <= kYear && text.substr(0, at).ends_with("AD") &&
      (at == 2 || !IsAsciiAlnum(text[at - 3])))
    return Reading{end, numbers.Year(static_cast<unsigned>(ParseDigits(digits)))};
  // The airplanes of Airbus: "A380", "A320neo".
  if (digits.size() == kFewestDigits && digits[0] == '3' && digits[2] == '0' && digits[1] != '0' &&
      text[at - 1] == 'A' && (at == 1 || !IsAsciiAlnum(text[at - 2])))
    return Reading{end, StatusWords(numbers, ParseDigits(digits))};
  // "The A100" is the A one hundred.
  const bool hundreds =
      digits.size() == kFewestDigits && digits[0] != '0' && digits.ends_with("00");
  return Reading{end, hundreds ? numbers.Whole(digits) : numbers.Digits(digits)};
}

std::optional<Reading> ReadEpisode(const NumberWords& numbers, std::string_view text, size_t at) {
  constexpr size_t kMaxDigits = 3;
  const char series = ByteAt(text, at);
  if (series != 'S' && series != 's') return std::nullopt;
  const size_t season = at + 1;
  const size_t season_end = DigitsEnd(text, season, kMaxDigits);
  const size_t episode = season_end + 1;
  const size_t end = DigitsEnd(text, episode, kMaxDigits + 1);
  if (season_end == season || season_end - season == kMaxDigits || end == episode ||
      end - episode > kMaxDigits || ByteAt(text, season_end) != (series == 'S' ? 'E' : 'e') ||
      IsAsciiAlnum(ByteAt(text, end)))
    return std::nullopt;
  Reading reading{end, {"season"}};
  reading.Append(numbers.Cardinal(ParseDigits(text.substr(season, season_end - season))));
  reading.Append("episode");
  reading.Append(numbers.Cardinal(ParseDigits(text.substr(episode, end - episode))));
  return reading;
}

std::optional<Reading> ReadSpokenCode(const NumberWords& numbers, std::string_view text, size_t at,
                                      const NumberContext& context) {
  if (auto code = ReadProgrammersCode(numbers, text, at, context.previous)) return code;
  if (auto code = ReadNamedCode(numbers, text, at, context)) return code;
  if (auto code = ReadHyphenatedCode(numbers, text, at, context.code || NamesCode(context.previous),
                                     context.previous))
    return code;
  if (auto code = ReadCodeOfParts(numbers, text, at)) return code;
  if (auto name = ReadNameWithNumber(numbers, text, at)) return name;
  if (auto standard = ReadStandard(numbers, text, at, context.previous)) return standard;
  if (auto code = ReadSlashedCode(numbers, text, at, context.previous)) return code;
  if (auto runway = ReadRunway(numbers, text, at, context.previous)) return runway;
  if (auto model = ReadModel(numbers, text, at, context.previous)) return model;
  if (auto name = ReadNumberedName(numbers, text, at, context.previous)) return name;
  return ReadHexNumber(numbers, text, at);
}

}  // namespace millrace::models
