#include "models/text/english/number_reader.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/english/money_reader.h"
#include "models/text/english/phone_reader.h"
#include "models/text/english/time_reader.h"
#include "models/text/english/units.h"
#include "models/text/english/zip_reader.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

size_t DashBytes(std::string_view text, size_t at) {
  if (ByteAt(text, at) == '-') return 1;
  return text.substr(at, 3) == "–" ? 3 : 0;
}

}  // namespace

std::optional<Reading> ReadFractionSign(std::string_view text, size_t at) {
  struct Sign {
    std::string_view sign;
    std::string_view count;
    std::string_view part;
  };
  constexpr std::array<Sign, 9> kSigns = {{{"½", "one", "half"},
                                           {"¼", "one", "quarter"},
                                           {"¾", "three", "quarters"},
                                           {"⅓", "one", "third"},
                                           {"⅔", "two", "thirds"},
                                           {"⅛", "one", "eighth"},
                                           {"⅜", "three", "eighths"},
                                           {"⅝", "five", "eighths"},
                                           {"⅞", "seven", "eighths"}}};
  for (const Sign& sign : kSigns) {
    if (text.substr(at, sign.sign.size()) != sign.sign) continue;
    return Reading{at + sign.sign.size(), {std::string(sign.count), std::string(sign.part)}};
  }
  return std::nullopt;
}

std::optional<Reading> NumberReader::Read(std::string_view text, size_t at,
                                          std::string_view previous) const {
  if (auto phone = ReadPhone(numbers_, text, at)) return phone;
  if (auto money = ReadMoney(numbers_, text, at)) return money;
  const char first = ByteAt(text, at);
  if (!IsAsciiDigit(first) && (first != '.' || !IsAsciiDigit(ByteAt(text, at + 1)))) {
    return std::nullopt;
  }
  if (auto zip = ReadZip(numbers_, text, at)) return zip;
  if (auto code = ReadCode(text, at, previous)) return code;
  if (auto minutes = ReadMinutes(text, at, previous)) return minutes;
  if (auto date = dates_.ReadNumeric(text, at)) return date;
  if (auto time = ReadTime(numbers_, text, at)) return time;
  if (auto fraction = ReadFraction(text, at)) return fraction;
  if (auto date = dates_.ReadDayMonth(text, at, previous)) return date;
  if (auto version = ReadVersion(text, at)) return version;
  return ReadPlain(text, *ParseAmount(text, at));
}

std::optional<Reading> NumberReader::ReadFraction(std::string_view text, size_t at) const {
  const size_t slash = DigitsEnd(text.substr(0, at + 4), at);
  if (slash == at || slash - at > 3 || ByteAt(text, slash) != '/') return std::nullopt;
  const size_t end = DigitsEnd(text.substr(0, slash + 5), slash + 1);
  if (end == slash + 1 || end - slash > 4) return std::nullopt;
  if (IsAsciiAlnum(ByteAt(text, end)) || ByteAt(text, end) == '/') return std::nullopt;
  const uint64_t count = ParseDigits(text.substr(at, slash - at));
  const uint64_t part = ParseDigits(text.substr(slash + 1, end - slash - 1));
  Reading reading{end, numbers_.Cardinal(count)};
  const bool spoken_as_part = part >= 2 && (part <= 10 || part == 12 || part == 16 || part == 20 ||
                                            part == 32 || part == 64 || part == 100);
  // "24/7", "9/11" and the like are two numbers.
  const bool is_part = spoken_as_part && count > 0 && count < part;
  reading.Append(is_part ? numbers_.Denominator(part, count != 1) : numbers_.Cardinal(part));
  return reading;
}

// Reads numbers with two points or more: "2.0.1", "192.168.0.1".
std::optional<Reading> NumberReader::ReadVersion(std::string_view text, size_t at) const {
  size_t end = DigitsEnd(text, at);
  size_t points = 0;
  while (end > at && ByteAt(text, end) == '.' && IsAsciiDigit(ByteAt(text, end + 1))) {
    end = DigitsEnd(text, end + 1);
    ++points;
  }
  if (points < 2) return std::nullopt;
  Reading reading{end, {}};
  while (at < end) {
    const size_t part_end = DigitsEnd(text.substr(0, end), at);
    if (!reading.words.empty()) reading.Append(points == 2 ? "point" : "dot");
    reading.Append(numbers_.Whole(text.substr(at, part_end - at)));
    at = part_end + 1;
  }
  return reading;
}

std::optional<Reading> NumberReader::ReadCode(std::string_view text, size_t at,
                                              std::string_view previous) const {
  constexpr std::array<std::string_view, 6> kCalls = {"call", "called", "calling",
                                                      "dial", "dialed", "dialing"};
  constexpr std::array<std::string_view, 6> kCodes = {"code", "ext",      "extension",
                                                      "pin",  "postcode", "zip"};
  constexpr size_t kMaxDigits = 8;
  const size_t end = DigitsEnd(text.substr(0, at + kMaxDigits + 1), at);
  const std::string_view digits = text.substr(at, end - at);
  if (digits.size() < 3 || digits.size() > kMaxDigits) return std::nullopt;
  const char follows = ByteAt(text, end);
  if (IsAsciiLetter(follows) || follows == '%' ||
      ((follows == ',' || follows == '.' || follows == '-') &&
       IsAsciiDigit(ByteAt(text, end + 1)))) {
    return std::nullopt;
  }
  const bool service = digits.size() == 3 && (digits.ends_with("11") || digits == "999" ||
                                              digits == "112" || digits == "000");
  const bool called = service && std::ranges::find(kCalls, previous) != kCalls.end();
  if (!called && std::ranges::find(kCodes, previous) == kCodes.end()) return std::nullopt;
  return Reading{end, numbers_.Digits(digits)};
}

std::optional<Reading> NumberReader::ReadMinutes(std::string_view text, size_t at,
                                                 std::string_view previous) const {
  if (previous != "hour" && previous != "hours") return std::nullopt;
  const size_t end = DigitsEnd(text.substr(0, at + 3), at);
  if (end == at || end - at > 2 || ByteAt(text, end) != 'm' ||
      IsAsciiAlnum(ByteAt(text, end + 1))) {
    return std::nullopt;
  }
  const uint64_t minutes = ParseDigits(text.substr(at, end - at));
  Reading reading{end + 1, numbers_.Cardinal(minutes)};
  reading.Append(minutes == 1 ? "minute" : "minutes");
  return reading;
}

std::vector<std::string> NumberReader::PlainWords(const Amount& amount) const {
  if (amount.IsYear()) return numbers_.Year(static_cast<unsigned>(ParseDigits(amount.whole)));
  return AmountWords(numbers_, amount);
}

Reading NumberReader::ReadPlain(std::string_view text, const Amount& amount) const {
  Reading reading{amount.end, {}};
  if (TakeEnding(text, amount, reading)) return reading;
  if (TakeFeet(text, amount, reading)) return reading;
  // A measured number is no year: "1500 km".
  Reading measured{amount.end, {}};
  if (TakeMeasure(text, amount, measured)) {
    reading.Append(AmountWords(numbers_, amount));
    reading.Append(std::move(measured.words));
    reading.end = measured.end;
    return reading;
  }
  reading.Append(PlainWords(amount));
  if (amount.fraction.empty() && amount.whole.size() <= 3) TakeMixedFraction(text, reading);
  const Amount last = TakeRange(text, amount, reading);
  TakeMeasure(text, last, reading);
  return reading;
}

bool NumberReader::TakeEnding(std::string_view text, const Amount& amount, Reading& reading) const {
  if (!amount.fraction.empty() || amount.whole.size() > kMaxCardinalDigits) return false;
  const uint64_t value = ParseDigits(amount.whole);
  const size_t apostrophe = ByteAt(text, amount.end) == '\''    ? 1
                            : text.substr(amount.end, 3) == "’" ? 3
                                                                : 0;
  const size_t letters = amount.end + apostrophe;
  const size_t end = LettersEnd(text.substr(0, letters + 3), letters);
  const std::string ending = AsciiLower(text.substr(letters, end - letters));
  if (IsAsciiDigit(ByteAt(text, end))) return false;
  if (apostrophe == 0 && (ending == "st" || ending == "nd" || ending == "rd" || ending == "th")) {
    reading.Append(numbers_.Ordinal(value));
    reading.end = end;
    return true;
  }
  // "1990s", "80s", "747s".
  if (ending != "s" || amount.grouped) return false;
  if (amount.IsYear() && value % 10 == 0) {
    reading.Append(numbers_.Decade(static_cast<unsigned>(value)));
  } else if (apostrophe == 0 || value % 10 == 0) {
    reading.Append(amount.IsYear() ? numbers_.Year(static_cast<unsigned>(value))
                                   : numbers_.Whole(amount.whole));
    std::string& last = reading.words.back();
    if (last.ends_with('y')) {
      last.replace(last.size() - 1, 1, "ies");
    } else {
      last += last.ends_with('x') ? "es" : "s";
    }
  } else {
    return false;
  }
  reading.end = end;
  return true;
}

bool NumberReader::TakeFeet(std::string_view text, const Amount& amount, Reading& reading) const {
  if (ByteAt(text, amount.end) != '\'' || amount.whole.size() > 2) return false;
  const size_t inches = amount.end + 1;
  const size_t end = DigitsEnd(text.substr(0, inches + 3), inches);
  if (end == inches || ByteAt(text, end) != '"') return false;
  reading.Append(AmountWords(numbers_, amount));
  reading.Append("foot");
  reading.Append(numbers_.Whole(text.substr(inches, end - inches)));
  reading.end = end + 1;
  return true;
}

void NumberReader::TakeMixedFraction(std::string_view text, Reading& reading) const {
  if (auto sign = ReadFractionSign(text, reading.end)) {
    reading.Append("and");
    if (sign->words[0] == "one") sign->words[0] = "a";
    reading.Append(std::move(sign->words));
    reading.end = sign->end;
    return;
  }
  if (ByteAt(text, reading.end) != ' ' || !IsAsciiDigit(ByteAt(text, reading.end + 1))) return;
  auto fraction = ReadFraction(text, reading.end + 1);
  if (!fraction || fraction->words.size() != 2) return;
  // Only a fraction below one makes a mixed number: "5 24/7" is none.
  const std::string& part = fraction->words[1];
  if (part != "half" && part != "quarter" && !part.ends_with("ths") && !part.ends_with("th") &&
      part != "quarters" && part != "third" && part != "thirds") {
    return;
  }
  reading.Append("and");
  if (fraction->words[0] == "one") fraction->words[0] = "a";
  reading.Append(std::move(fraction->words));
  reading.end = fraction->end;
}

Amount NumberReader::TakeRange(std::string_view text, const Amount& amount,
                               Reading& reading) const {
  const size_t dash = DashBytes(text, reading.end);
  if (dash == 0 || !IsAsciiDigit(ByteAt(text, reading.end + dash))) return amount;
  auto second = ParseAmount(text, reading.end + dash);
  // "1-2-3" is no range.
  if (!second || (DashBytes(text, second->end) > 0 &&
                  IsAsciiDigit(ByteAt(text, second->end + DashBytes(text, second->end))))) {
    return amount;
  }
  reading.Append("to");
  reading.Append(PlainWords(*second));
  reading.end = second->end;
  return *std::move(second);
}

bool NumberReader::TakeMeasure(std::string_view text, const Amount& amount,
                               Reading& reading) const {
  const bool spaced = ByteAt(text, reading.end) == ' ';
  const size_t at = reading.end + (spaced ? 1 : 0);
  if (ByteAt(text, at) == '%') {
    reading.Append("percent");
    reading.end = at + 1;
    return true;
  }
  if (text.substr(at, 2) == "°") {
    size_t end = at + 2;
    if (ByteAt(text, end) == ' ' && (text[end + 1 < text.size() ? end + 1 : end] == 'C' ||
                                     text[end + 1 < text.size() ? end + 1 : end] == 'F')) {
      ++end;
    }
    const char scale = IsAsciiAlnum(ByteAt(text, end + 1)) ? '\0' : ByteAt(text, end);
    reading.Append(amount.IsOne() ? "degree" : "degrees");
    if (scale == 'C' || scale == 'F') reading.Append(scale == 'C' ? "celsius" : "fahrenheit");
    reading.end = scale == 'C' || scale == 'F' ? end + 1 : at + 2;
    return true;
  }
  if (const size_t sign = CurrencySignBytes(text, at);
      sign > 0 && !IsAsciiDigit(ByteAt(text, at + sign)) && !IsAsciiLetter(ByteAt(text, at))) {
    reading.Append(CurrencyName(text.substr(at, sign), amount.IsOne()));
    reading.end = at + sign;
    return true;
  }
  size_t end = at;
  while (end - at <= kMaxUnitBytes) {
    const CodePoint c = DecodeAt(text, end);
    const bool part =
        c.bytes > 0 && ((c.value < 0x80 && IsAsciiLetter(static_cast<char>(c.value))) ||
                        c.value == 0xB5 || c.value == 0xB2 || c.value == 0xB3);
    const bool slash = c.value == '/' && end > at && IsAsciiLetter(ByteAt(text, end + 1));
    if (!part && !slash) break;
    end += c.bytes;
  }
  if (end == at || IsAsciiDigit(ByteAt(text, end))) return false;
  if (!spaced && end == at + 1 && (text[at] == 'x' || text[at] == 'X')) {
    reading.Append("times");
    reading.end = end;
    return true;
  }
  auto unit = FindUnit(text.substr(at, end - at), spaced, dialect_);
  if (!unit) return false;
  reading.AppendEach(amount.IsOne() ? unit->singular : unit->plural);
  reading.end = end;
  return true;
}

}  // namespace millrace::models
