#include "models/text/japanese/prepared_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "models/text/japanese/counters.h"
#include "models/text/japanese/japanese_units_text.h"
#include "models/text/read_letters.h"
#include "models/text/unicode.h"
#include "models/text/unit_names.h"

namespace millrace::models {
namespace {

bool IsBetween(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

bool IsKanjiCharacter(char32_t c) {
  return IsBetween(c, 0x3400, 0x4DBF) || IsBetween(c, 0x4E00, 0x9FFF) ||
         IsBetween(c, 0xF900, 0xFAFF) || IsBetween(c, 0x20000, 0x3FFFF) || c == U'々' ||
         c == U'〆' || c == U'〇';
}

bool IsAnyKana(char32_t c) {
  return IsBetween(c, 0x3041, 0x309F) || IsBetween(c, 0x30A0, 0x30FF) ||
         IsBetween(c, 0x31F0, 0x31FF) || IsBetween(c, 0xFF66, 0xFF9F);
}

bool IsVoicingMark(char32_t c) { return c == 0x3099 || c == 0x309A || c == 0xFF9E || c == 0xFF9F; }

bool IsCombining(char32_t c) {
  return IsVoicingMark(c) || IsBetween(c, 0x300, 0x36F) || IsBetween(c, 0xFE00, 0xFE0F);
}

// Returns true for a character that form NFKC keeps, as most of a Japanese text is.
bool IsNormal(char32_t c) {
  return IsBetween(c, '!', '~') || IsBetween(c, 0x3041, 0x3096) || IsBetween(c, 0x30A1, 0x30FC) ||
         IsBetween(c, 0x4E00, 0x9FFF) || IsBetween(c, 0x3001, 0x3002) || c == U'…' || c == U'‥';
}

bool IsLatinLetter(char32_t c) { return IsBetween(c, 'A', 'Z') || IsBetween(c, 'a', 'z'); }

constexpr ReadLetters kJapanese = {[](char32_t c) { return IsKanjiCharacter(c) || IsAnyKana(c); },
                                   ", which is not read in Japanese; write it in kanji or kana"};

struct Placed {
  std::u32string text;
  std::vector<size_t> begins;
  std::vector<size_t> ends;

  void Add(char32_t c, size_t begin, size_t end) {
    text += c;
    begins.push_back(begin);
    ends.push_back(end);
  }
};

// Appends the form NFKC of a character and the marks behind it.
void AppendNormalized(std::string_view piece, size_t begin, size_t end, Placed& placed) {
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(piece.data()),
      static_cast<utf8proc_ssize_t>(piece.size()), &mapped,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(mapped, &std::free);
  if (size < 0) return;
  const std::string_view text(reinterpret_cast<const char*>(mapped), static_cast<size_t>(size));
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = DecodeAt(text, at);
    at += point.bytes;
    char32_t c = point.value;
    if (IsLetter(c) && !IsAnyKana(c) && !IsKanjiCharacter(c) && c >= 0xC0) {
      // A Latin letter with an accent is read as the plain letter.
      const std::string plain = Decompose(EncodeUtf8(c));
      if (!plain.empty() && IsLatinLetter(static_cast<unsigned char>(plain[0])))
        c = static_cast<unsigned char>(plain[0]);
    }
    if (IsCombining(c)) continue;
    placed.Add(c, begin, end);
  }
}

// Returns katakana for the small katakana of Ainu, and c for others.
char32_t WithoutAinu(char32_t c) {
  constexpr std::u32string_view kFullKatakana = U"クシストヌハヒフヘホムラリルレロ";
  return IsBetween(c, 0x31F0, 0x31FF) ? kFullKatakana[c - 0x31F0] : c;
}

absl::StatusOr<Placed> Normalized(std::string_view source) {
  Placed placed;
  for (size_t at = 0; at < source.size();) {
    const CodePoint point = DecodeAt(source, at);
    if (absl::Status status = CheckCharacter(source, at, point, kJapanese); !status.ok())
      return status;
    const size_t begin = at;
    at += point.bytes;
    const char32_t c = WithoutAinu(point.value);
    if (IsSpace(c) || c < 0x20 || c == 0x7F || c == 0x3000) {
      if (placed.text.empty() || placed.text.back() != ' ') placed.Add(' ', begin, at);
      continue;
    }
    size_t end = at;
    while (end < source.size() && end - begin < 32 && IsCombining(DecodeAt(source, end).value))
      end += DecodeAt(source, end).bytes;
    if (end == at && (IsNormal(c) || c != point.value)) {
      placed.Add(c == U'‥' ? U'…' : c, begin, end);
    } else {
      AppendNormalized(source.substr(begin, end - begin), begin, end, placed);
    }
    at = end;
  }
  return placed;
}

// Makes kanji that are written like digits ASCII digits: 二〇二五 is 2025.
void ReplacePositionalKanji(std::u32string& text) {
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    bool zero = false;
    while (end < text.size() && kKanjiDigits.find(text[end]) != std::u32string_view::npos)
      zero = text[end++] == U'〇' || zero;
    const bool year = end - at == 4 && end < text.size() && text[end] == U'年';
    if (end - at >= 2 && (zero || year)) {
      for (size_t i = at; i < end; ++i)
        text[i] = static_cast<char32_t>('0' + kKanjiDigits.find(text[i]));
    }
    at = std::max(end, at + 1);
  }
}

const std::vector<UnitName>& MeasureUnits() {
  static const auto& units = *new auto(ReadUnitNames(kJapaneseUnitsText));
  return units;
}

std::u32string_view Currency(char32_t c) {
  switch (c) {
    case U'¥':
      return U"円";
    case '$':
      return U"ドル";
    case U'€':
      return U"ユーロ";
    case U'£':
      return U"ポンド";
    default:
      return {};
  }
}

std::u32string_view SpokenSymbol(char32_t c) {
  switch (c) {
    case '&':
      return U"アンド";
    case '@':
      return U"アット";
    case '%':
      return U"パーセント";
    case '+':
      return U"プラス";
    case '=':
      return U"イコール";
    case U'×':
      return U"カケル";
    case U'÷':
      return U"ワル";
    default:
      return {};
  }
}

constexpr std::u32string_view kLargeUnits = U"百千万億兆";

bool IsLargeUnit(char32_t c) { return c != 0 && kLargeUnits.find(c) != std::u32string_view::npos; }

// Writes the numbers of a normalised text out.
class NumberWriter {
 public:
  explicit NumberWriter(const Placed& in) : in_(in) {}

  PreparedText Write() {
    while (at_ < in_.text.size()) {
      const char32_t c = At(at_);
      if (IsDigit(c)) {
        WriteNumber({});
      } else if (const auto currency = Currency(c); !currency.empty() && IsDigit(At(at_ + 1))) {
        ++at_;
        WriteNumber(currency);
      } else if (IsMinus(c)) {
        WriteMinus();
      } else if ((c == U'〜' || c == '~') && IsDigit(At(at_ + 1))) {
        Copy(U"から", 1);
      } else if (c == '.' && IsLatinLetter(At(at_ + 1)) && at_ > 0 && IsLatinLetter(At(at_ - 1))) {
        Copy(U"ドット", 1);
      } else if (const auto symbol = SpokenSymbol(c); !symbol.empty()) {
        Copy(symbol, 1);
      } else if (IsBetween(c, 'A', 'Z') || IsBetween(c, 'a', 'z')) {
        Copy(std::u32string(1, c - '!' + 0xFF01), 1);
      } else {
        Copy(std::u32string(1, c), 1);
      }
    }
    return std::move(out_);
  }

 private:
  struct Number {
    uint64_t value = 0;
    std::u32string digits;
    std::u32string decimals;
    size_t end = 0;
    bool spelled = false;  // digit by digit
  };

  char32_t At(size_t i) const { return i < in_.text.size() ? in_.text[i] : 0; }

  static bool IsMinus(char32_t c) { return c == '-' || c == U'−' || c == U'‐' || c == U'–'; }

  // Appends characters that stand for the next `length` characters of the input.
  void Copy(std::u32string_view text, size_t length) {
    AppendFor(text, at_, length), at_ += length;
  }

  void AppendFor(std::u32string_view text, size_t from, size_t length) {
    for (const char32_t c : text) {
      out_.text += c;
      out_.begins.push_back(in_.begins[from]);
      out_.ends.push_back(in_.ends[from + length - 1]);
    }
  }

  // Appends characters with their pronunciation for the input from `at_` to `end`.
  void Read(std::u32string_view text, std::u32string pronunciation, size_t end) {
    const size_t begin = out_.text.size();
    AppendFor(text, at_, end - at_);
    out_.readings.push_back({begin, out_.text.size(), std::move(pronunciation)});
    at_ = end;
  }

  size_t DigitsEnd(size_t i) const {
    while (IsDigit(At(i))) ++i;
    return i;
  }

  static std::optional<uint64_t> ValueOf(std::u32string_view digits) {
    if (digits.empty() || digits.size() > kMaxNumberDigits) return std::nullopt;
    uint64_t value = 0;
    for (const char32_t c : digits) value = value * 10 + (c - '0');
    return value;
  }

  // Returns the value of 1 to `most` digits at `i`, and moves `i` behind them.
  std::optional<uint64_t> ShortNumber(size_t& i, size_t most) const {
    const size_t end = DigitsEnd(i);
    if (end == i || end - i > most) return std::nullopt;
    const auto value = ValueOf(std::u32string_view(in_.text).substr(i, end - i));
    i = end;
    return value;
  }

  Number ParseNumber(size_t begin) const {
    Number number;
    number.end = DigitsEnd(begin);
    number.digits = in_.text.substr(begin, number.end - begin);
    if (number.digits.size() <= 3) {
      while (At(number.end) == ',' && DigitsEnd(number.end + 1) == number.end + 4) {
        number.digits += in_.text.substr(number.end + 1, 3);
        number.end += 4;
      }
    }
    const bool padded = number.digits.size() > 1 && number.digits[0] == '0';
    const auto value = ValueOf(number.digits);
    number.spelled = padded || !value;
    number.value = value.value_or(0);
    if (At(number.end) == '.' && IsDigit(At(number.end + 1))) {
      const size_t end = DigitsEnd(number.end + 1);
      number.decimals = in_.text.substr(number.end + 1, end - number.end - 1);
      number.end = end;
    }
    return number;
  }

  void WriteCounted(uint64_t value, std::u32string_view counter, size_t end) {
    const bool month = out_.text.ends_with(U"月") || out_.text.ends_with(U"がつ");
    Read(KanjiNumber(value) + std::u32string(counter), CountedNumber(value, counter, month), end);
  }

  // 2025/5/1, 2025-05-01, 2025.5.1
  bool WriteDate() {
    size_t i = at_;
    const size_t first = DigitsEnd(i);
    const char32_t separator = At(first);
    if (first - i != 4 || (separator != '/' && separator != '-' && separator != '.')) return false;
    const auto year = ShortNumber(i, 4);
    const size_t year_end = i++;
    const auto month = ShortNumber(i, 2);
    if (!month || *month < 1 || *month > 12 || At(i) != separator) return false;
    const size_t month_end = i++;
    const auto day = ShortNumber(i, 2);
    if (!day || *day < 1 || *day > 31 || At(i) == separator) return false;
    WriteCounted(*year, U"年", year_end);
    WriteCounted(*month, U"月", month_end);
    WriteCounted(*day, U"日", i);
    return true;
  }

  // 10:30 and 10:30:15.
  bool WriteTime() {
    size_t i = at_;
    const auto hour = ShortNumber(i, 2);
    if (!hour || *hour > 24 || At(i) != ':') return false;
    const size_t hour_end = i++;
    const size_t minute_begin = i;
    const auto minute = ShortNumber(i, 2);
    if (!minute || *minute > 59 || i - minute_begin != 2) return false;
    size_t end = i;
    std::optional<uint64_t> second;
    if (At(i) == ':') {
      const size_t second_begin = ++i;
      second = ShortNumber(i, 2);
      if (!second || *second > 59 || i - second_begin != 2) return false;
      end = i;
    }
    WriteCounted(*hour, U"時", *minute == 0 && !second ? end : hour_end);
    if (*minute > 0 || second) WriteCounted(*minute, U"分", second ? minute_begin + 2 : end);
    if (second) WriteCounted(*second, U"秒", end);
    return true;
  }

  // 1/2 is a fraction, and 5/10 a date where something that says so follows.
  bool WriteSlashed() {
    size_t i = at_;
    const auto first = ShortNumber(i, 2);
    if (!first || At(i) != '/') return false;
    const size_t first_end = i++;
    const auto second = ShortNumber(i, 3);
    if (!second || *second == 0 || At(i) == '/') return false;
    constexpr std::u32string_view kBehindDates = U"(には〜~";
    const bool date = *first >= 1 && *first <= 12 && *second <= 31 && At(i) != 0 &&
                      kBehindDates.find(At(i)) != std::u32string_view::npos;
    if (date) {
      WriteCounted(*first, U"月", first_end);
      WriteCounted(*second, U"日", i);
      return true;
    }
    Read(KanjiNumber(*second) + U"分の" + KanjiNumber(*first),
         CountedNumber(*second, {}, false) + U"ブンノ " + CountedNumber(*first, {}, false), i);
    return true;
  }

  // Telephone numbers, addresses and versions: digits with hyphens, or with several points.
  bool WriteGroups() {
    const char32_t separator = IsMinus(At(DigitsEnd(at_))) ? At(DigitsEnd(at_)) : U'.';
    std::vector<std::u32string> groups;
    size_t digits = 0;
    size_t end = at_;
    for (size_t i = at_; IsDigit(At(i));) {
      end = DigitsEnd(i);
      groups.push_back(in_.text.substr(i, end - i));
      digits += groups.back().size();
      if (At(end) != separator) break;
      i = end + 1;
    }
    if (groups.size() < 2 || (separator == '.' && groups.size() == 2)) return false;
    const bool spelled = digits > 6 || groups[0].starts_with('0');
    std::u32string spoken;
    std::u32string written;
    for (const std::u32string& group : groups) {
      if (!spoken.empty()) spoken += separator == '.' ? U" テン " : U" ノ ";
      const auto value = ValueOf(group);
      spoken += spelled || !value ? SpokenDigits(group) : CountedNumber(*value, {}, false);
      written += KanjiNumber(value.value_or(1));
    }
    Read(written, std::move(spoken), end);
    return true;
  }

  void WriteNumber(std::u32string_view currency) {
    if (currency.empty() && (WriteDate() || WriteTime() || WriteSlashed() || WriteGroups())) return;
    const Number number = ParseNumber(at_);
    if (!currency.empty()) {
      WriteMoney(number, currency);
      return;
    }
    std::u32string_view rest = std::u32string_view(in_.text).substr(number.end);
    for (const UnitName& unit : MeasureUnits()) {
      if (!rest.starts_with(unit.written)) continue;
      if (IsLatinLetter(At(number.end + unit.written.size())) && IsLatinLetter(unit.written.back()))
        continue;
      WritePlain(number, unit.spoken, number.end + unit.written.size());
      return;
    }
    // 分 of a fraction is no counter.
    size_t counter = CounterLength(rest);
    if (rest.starts_with(U"分の") && rest.size() > 2 &&
        (IsDigit(rest[2]) || kKanjiDigits.find(rest[2]) != std::u32string_view::npos))
      counter = 0;
    WritePlain(number, rest.substr(0, counter), number.end + counter);
  }

  // Writes a number and what is counted, which ends at `end` of the input.
  void WritePlain(const Number& number, std::u32string_view counter, size_t end) {
    if (number.spelled || !number.decimals.empty()) {
      std::u32string spoken =
          number.spelled ? SpokenDigits(number.digits) : CountedNumber(number.value, {}, false);
      if (!number.decimals.empty()) {
        if (!number.spelled) HardenBeforePoint(number.value, spoken);
        spoken += U"テン " + SpokenDigits(number.decimals);
      }
      Read(U"三", std::move(spoken), number.end);
      Copy(counter, end - at_);
      return;
    }
    // Kanji beside it belong to the number: 3億2,000万.
    const char32_t before = out_.text.empty() ? 0 : out_.text.back();
    if (IsLargeUnit(At(number.end)) ||
        (IsLargeUnit(before) && at_ > 0 && IsLargeUnit(At(at_ - 1)))) {
      AppendFor(KanjiNumber(number.value), at_, number.end - at_);
      at_ = number.end;
      return;
    }
    const bool known = CounterLength(counter) == counter.size();
    if (known || counter.empty()) {
      WriteCounted(number.value, counter, end);
      return;
    }
    WriteCounted(number.value, {}, number.end);
    Copy(counter, end - at_);
  }

  static void HardenBeforePoint(uint64_t value, std::u32string& spoken) {
    constexpr std::u32string_view kTen = U"ジュー";
    if (value == 0) spoken = U"レー";
    if (value % 10 == 1) spoken.back() = U'ッ';
    if (value % 10 == 8) spoken.back() = U'ッ';
    if (spoken.ends_with(kTen)) spoken.back() = U'ッ';
  }

  // $3 and $3億.
  void WriteMoney(const Number& number, std::u32string_view currency) {
    size_t end = number.end;
    while (IsLargeUnit(At(end))) ++end;
    if (end > number.end) {
      const std::u32string units = in_.text.substr(number.end, end - number.end);
      WritePlain(number, {}, number.end);
      Copy(units, end - at_);
      AppendFor(currency, end - 1, 1);
      return;
    }
    WritePlain(number, {}, number.end);
    if (number.decimals.empty() && !number.spelled) {
      // The currency changes the number as a counter does.
      out_.readings.back().pronunciation = CountedNumber(number.value, currency, false);
      const size_t from = out_.text.size();
      AppendFor(currency, end - 1, 1);
      out_.readings.back().end = from + currency.size();
      return;
    }
    AppendFor(currency, end - 1, 1);
  }

  void WriteMinus() {
    const bool behind_word = at_ > 0 && At(at_ - 1) != ' ' && At(at_ - 1) != '(' &&
                             !IsAnyKana(At(at_ - 1)) && !IsKanjiCharacter(At(at_ - 1));
    if (IsDigit(At(at_ + 1)) && !behind_word) {
      Copy(U"マイナス", 1);
    } else {
      Copy(U" ", 1);
    }
  }

  const Placed& in_;
  size_t at_ = 0;
  PreparedText out_;
};

}  // namespace

absl::Status CheckJapanese(std::string_view source) { return CheckCharacters(source, kJapanese); }

absl::StatusOr<PreparedText> PrepareJapanese(std::string_view source) {
  auto placed = Normalized(source);
  if (!placed.ok()) return placed.status();
  ReplacePositionalKanji(placed->text);
  return NumberWriter(*placed).Write();
}

}  // namespace millrace::models
