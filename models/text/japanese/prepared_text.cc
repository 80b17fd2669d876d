#include "models/text/japanese/prepared_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "models/core/errors.h"
#include "models/text/japanese/counters.h"
#include "models/text/japanese/japanese_signs.h"
#include "models/text/japanese/japanese_units_text.h"
#include "models/text/japanese/kana_date.h"
#include "models/text/japanese/kanji_number.h"
#include "models/text/japanese/latin_reading.h"
#include "models/text/japanese/normalized_text.h"
#include "models/text/unicode.h"
#include "models/text/unit_names.h"

namespace millrace::models {
namespace {

const std::vector<UnitName>& MeasureUnits() {
  static const auto& units = *new auto(ReadUnitNames(kJapaneseUnitsText));
  return units;
}

constexpr std::u32string_view kLargeUnits = U"百千万億兆";

bool IsLargeUnit(char32_t c) { return c != 0 && kLargeUnits.find(c) != std::u32string_view::npos; }

// Writes the numbers of a normalised text out.
class NumberWriter : private NumberCursor {
 public:
  explicit NumberWriter(PlacedText in) : NumberCursor(std::move(in)) {}

  PreparedText Write() {
    while (at_ < in_.text.size()) {
      const char32_t c = At(at_);
      if (WriteNeighbours() || WriteEnglishCount() || WriteBattingAverage() || WriteLatinName() ||
          WriteUnitAlone() || WritePer() || WriteLabel())
        continue;
      if (IsDigit(c)) {
        WriteNumber({});
      } else if (const auto currency = JapaneseCurrency(c);
                 !currency.empty() && IsDigit(At(at_ + 1))) {
        ++at_;
        WriteNumber(currency);
      } else if (c == '=' && IsDigit(At(at_ + 1)) && IsKanjiOrKana(at_)) {
        Copy(U"、", 1);  // 1ドル=149円
      } else if (IsMinus(c)) {
        WriteMinus();
      } else if (c == ':' && at_ > 0 && IsDigit(At(at_ - 1)) && IsDigit(At(at_ + 1))) {
        Copy(U"タイ", 1);  // a score
      } else if (c == U'〜' || c == '~') {
        WriteWave();
      } else if (c == '.' && IsLatinLetter(At(at_ + 1)) && at_ > 0 && IsLatinLetter(At(at_ - 1))) {
        Copy(U"ドット", 1);
      } else if ((c == '.' && EndsShortForm(Piece(0, at_))) ||
                 (c == U'ー' && at_ > 0 && IsKanjiCharacter(At(at_ - 1)) &&
                  IsKanjiCharacter(At(at_ + 1)))) {
        Copy(U" ", 1);  // the latter is a dash: 東京ー大阪
      } else if (const auto label = LabelBeforeNumber(in_.text, at_); !label.empty()) {
        Copy(label, in_.text.find('.', at_) + 1 - at_);
      } else if (const auto symbol = JapaneseSymbol(c); !symbol.empty()) {
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

  // Writes a name of letters and digits, PS5 or M-1, and leaves the scheme of an address out.
  bool WriteLatinName() {
    if (at_ > 0 && (IsLatinLetter(At(at_ - 1)) || IsDigit(At(at_ - 1)))) return false;
    if (const size_t scheme = SchemeLength(Rest(at_)); scheme > 0) {
      Copy(U" ", scheme);
      return true;
    }
    size_t length = 0;
    std::u32string reading = NameWithDigits(Rest(at_), length);
    if (reading.empty()) return false;
    Read(U"Ａ", std::move(reading), at_ + length);
    return true;
  }

  // Writes the space behind the number of a label as a pause: 問1 次の文.
  bool WriteLabel() {
    if (At(at_) != ' ' || !EndsLabel(Piece(0, at_))) return false;
    Copy(U"、", 1);
    return true;
  }

  // Writes a unit in letters that no number is before: 単位はkg.
  bool WriteUnitAlone() {
    if (at_ > 0 && (IsLatinLetter(At(at_ - 1)) || IsDigit(At(at_ - 1)))) return false;
    if (std::u32string_view(U"ckm").find(At(at_)) == std::u32string_view::npos) return false;
    const std::u32string_view rest = Rest(at_);
    for (const UnitName& unit : MeasureUnits()) {
      if (unit.written.size() < 2 || !rest.starts_with(unit.written)) continue;
      const char32_t behind = At(at_ + unit.written.size());
      if (IsLatinLetter(behind) || IsDigit(behind) || behind == '/' || behind == '.') continue;
      Copy(unit.spoken, unit.written.size());
      return true;
    }
    return false;
  }

  bool IsKanjiOrKana(size_t end) const {
    return end > 0 && (IsAnyKana(At(end - 1)) || IsKanjiCharacter(At(end - 1)));
  }

  // Writes what an amount is for, 100円/個, as "1個".
  bool WritePer() {
    if (At(at_) != '/') return false;
    constexpr size_t kLongestUnit = 6;
    size_t unit = at_;
    while (unit > 0 && at_ - unit < kLongestUnit &&
           (IsLatinLetter(At(unit - 1)) || IsKanjiOrKana(unit)))
      --unit;
    std::u32string counter = in_.text.substr(at_ + 1);
    const size_t length = CounterLength(counter);
    if (unit == 0 || unit == at_ || !IsDigit(At(unit - 1)) || length == 0) return false;
    const size_t end = at_ + 1 + length;
    counter.resize(length);
    Copy(U"、", 1);
    WriteCounted(1, counter == U"月" ? U"か月" : counter, end);
    return true;
  }

  static bool IsMinus(char32_t c) { return c == '-' || c == U'−' || c == U'‐' || c == U'–'; }

  // Appends characters that stand for the next `length` characters of the input.
  void Copy(std::u32string_view text, size_t length) {
    AppendFor(text, at_, at_ + length, out_);
    at_ += length;
  }

  // Appends characters with their pronunciation for the input from `at_` to `end`.
  void Read(std::u32string_view text, std::u32string pronunciation, size_t end) {
    const size_t begin = out_.text.size();
    AppendFor(text, at_, end, out_);
    out_.readings.push_back({begin, out_.text.size(), std::move(pronunciation)});
    at_ = end;
  }

  static std::optional<uint64_t> ValueOf(std::u32string_view digits) {
    if (digits.empty() || digits.size() > kMaxNumberDigits) return std::nullopt;
    return NumberCursor::ValueOf(digits);
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
    Read(KanjiNumber(value) + std::u32string(counter), CountedNumber(value, counter, out_.text),
         end);
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
    constexpr std::u32string_view kBehindDates = U"(にはかま〜~";
    // 11/30 alone is a day, of which no part is counted.
    const bool follows = At(i) == 0 ? *second > 12 : kBehindDates.find(At(i)) != kBehindDates.npos;
    // 1/1〜1/3.
    const bool last = out_.text.ends_with(U"日から");
    const bool date = *first >= 1 && *first <= 12 && *second <= 31 && (follows || last);
    if (date) {
      WriteCounted(*first, U"月", first_end);
      WriteCounted(*second, U"日", i);
      return true;
    }
    Read(KanjiNumber(*second) + U"分の" + KanjiNumber(*first),
         CountedNumber(*second, {}, {}) + U"ブンノ " + CountedNumber(*first, {}, {}), i);
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
    if (groups.size() < 2 || (separator == '.' && groups.size() == 2) || IsRange(groups, end))
      return false;
    const bool spelled = digits > 6 || groups[0].starts_with('0');
    const std::u32string_view joint = separator == '.' ? U" テン " : JointOf(groups, end);
    std::u32string spoken;
    std::u32string written;
    for (const std::u32string& group : groups) {
      if (!spoken.empty()) spoken += joint;
      const auto value = ValueOf(group);
      spoken += spelled || !value ? SpokenDigits(group) : CountedNumber(*value, {}, {});
      written += KanjiNumber(value.value_or(1));
    }
    Read(written, std::move(spoken), end);
    return true;
  }

  // Returns true if what is counted stands behind two rising numbers, 1-2時間, but not 1-2番地.
  bool IsRange(const std::vector<std::u32string>& groups, size_t end) const {
    constexpr size_t kMostDigits = 3;
    if (groups.size() != 2 || groups[0].starts_with('0') || groups[1].size() > kMostDigits ||
        ValueOf(groups[0]) >= ValueOf(groups[1]))
      return false;
    const std::u32string_view behind = Rest(end);
    const bool measured = std::ranges::any_of(MeasureUnits(), [behind](const UnitName& unit) {
      return behind.starts_with(unit.written);
    });
    return (measured || CounterLength(behind) > 0) && !behind.starts_with(U'番') &&
           !behind.starts_with(U'号') && !behind.starts_with(U"丁目");
  }

  // Returns what the hyphen between groups of digits is: of a score, of a difference, or of an
  // address.
  std::u32string_view JointOf(const std::vector<std::u32string>& groups, size_t end) const {
    if (groups.size() != 2) return U" ノ ";
    const std::u32string_view behind = Rest(end);
    const auto scored = [behind](std::u32string_view joint, std::u32string_view words) {
      return behind.starts_with(joint) && behind.size() > 1 && words.find(behind[1]) != words.npos;
    };
    const std::u32string_view before = Piece(0, at_);
    if (before.ends_with(U"スコアは") || before.ends_with(U"スコア") ||
        scored(U"で", U"勝負敗下破制快完惜逆引") || scored(U"の", U"勝引接辛快完惜大"))
      return U" タイ ";
    return behind.starts_with(U'=') || behind.starts_with(U" =") ? U" マイナス " : U" ノ ";
  }

  // Returns the value of a digit, also of a kanji, from 1 on; 0 if it is none.
  static size_t DigitValue(char32_t c) {
    const size_t kanji = kKanjiDigits.find(c);
    return IsDigit(c) ? c - '0' : kanji == std::u32string_view::npos ? 0 : kanji;
  }

  // Returns true if the text behind a number makes it the lower one of a fraction: 10分の1.
  static bool IsFraction(std::u32string_view behind) {
    return behind.size() > 2 && behind.starts_with(U"分の") && DigitValue(behind[2]) > 0;
  }

  // 4、5人 and 二、三日: one or the other, which is said without a pause.
  bool WriteNeighbours() {
    const size_t first = DigitValue(At(at_));
    // 二三日, but 23日.
    const size_t joint = At(at_ + 1) == U'、' || At(at_ + 1) == ',' ? 1 : 0;
    const size_t second = DigitValue(At(at_ + 1 + joint));
    const char32_t before = at_ > 0 ? At(at_ - 1) : 0;
    if (first == 0 || second != first + 1 ||
        (joint == 0 && (IsDigit(At(at_)) || IsDigit(At(at_ + 1)))) || DigitValue(before) > 0 ||
        (before != 0 &&
         std::u32string_view(U"、,.:/-第十百千万億").find(before) != std::u32string_view::npos))
      return false;
    const std::u32string_view rest = Rest(at_ + 2 + joint);
    const std::u32string_view counter = rest.substr(0, CounterLength(rest));
    // 10分の1、2分の1.
    if (IsFraction(rest)) return false;
    // ふたつ、みっつ and 一人、二人 are words of their own.
    if (counter.empty() || counter.starts_with(U'つ') || (counter == U"人" && second == 2))
      return false;
    // Both numbers are days: 3月4、5日.
    if (before == U'月') {
      if (counter == U"日") WriteCounted(first, counter, at_ + 1);
      return counter == U"日";
    }
    constexpr std::array<std::u32string_view, 10> kNames = {
        U"", U"イチ", U"ニ", U"サン", U"シ", U"ゴ", U"ロク", U"シチ", U"ハチ", U"ク"};
    // Only 4 keeps its old name among the days: 三、四日.
    std::u32string spoken = counter == U"日" && second != 4
                                ? std::u32string(kNames[second]) + U"ニチ"
                                : CountedNumber(second, counter, {});
    spoken.insert(0, kNames[first]);
    Read(KanjiNumber(second) + std::u32string(counter), std::move(spoken),
         at_ + 2 + joint + counter.size());
    return true;
  }

  // 2ラン, 3ストライク.
  bool WriteEnglishCount() {
    const std::u32string_view name = EnglishCount(Rest(at_));
    if (name.empty() || (at_ > 0 && IsDigit(At(at_ - 1)))) return false;
    Read(U"三", std::u32string(name), at_ + 1);
    return true;
  }

  // 打率.312.
  bool WriteBattingAverage() {
    if (At(at_) != '.' || DigitsEnd(at_ + 1) != at_ + 4 ||
        (!Piece(0, at_).ends_with(U"打率") && !Piece(0, at_).ends_with(U"打率は")))
      return false;
    Copy({}, 1);
    for (const std::u32string_view part : {U"割", U"分", U"厘"}) {
      if (const uint64_t digit = At(at_) - '0'; digit > 0) {
        WriteCounted(digit, part, at_ + 1);
      } else {
        Copy({}, 1);
      }
    }
    return true;
  }

  void WriteNumber(std::u32string_view currency) {
    if (currency.empty() && (WriteDate() || WriteTime() || WriteSlashed() || WriteGroups())) return;
    Number number = ParseNumber(at_);
    // 07分 and 05月.
    constexpr std::u32string_view kClock = U"時分秒月日";
    if (number.digits.size() == 2 && kClock.find(At(number.end)) != kClock.npos)
      number.spelled = false;
    if (!currency.empty()) return WriteMoney(number, currency);
    std::u32string_view rest = Rest(number.end);
    // The police; generations of telephony.
    if (number.digits == U"110" && rest.starts_with(U"番"))
      return Read(U"百十番", U"ヒャクトーバン", number.end + 1);
    if (number.digits.size() == 1 && number.decimals.empty() && number.value >= 3 &&
        number.value <= 6 && rest.starts_with(U'G') && !IsLatinLetter(At(number.end + 1)))
      return Read(U"三", CountedNumber(number.value, {}, {}) + U"ジー", number.end + 1);
    for (const UnitName& unit : MeasureUnits()) {
      if (!rest.starts_with(unit.written)) continue;
      if (IsLatinLetter(At(number.end + unit.written.size())) && IsLatinLetter(unit.written.back()))
        continue;
      WritePlain(number, unit.spoken, number.end + unit.written.size());
      return;
    }
    size_t counter = CounterLength(rest);
    if (IsFraction(rest)) counter = 0;
    WritePlain(number, rest.substr(0, counter), number.end + counter);
  }

  // Writes a number and what is counted, which ends at `end` of the input.
  void WritePlain(const Number& number, std::u32string_view counter, size_t end) {
    if (number.spelled || !number.decimals.empty()) {
      std::u32string spoken =
          number.spelled ? SpokenDigits(number.digits) : CountedNumber(number.value, {}, {});
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
      AppendFor(KanjiNumber(number.value), at_, number.end, out_);
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

  // $3 and $3億.
  void WriteMoney(const Number& number, std::u32string_view currency) {
    size_t end = number.end;
    while (IsLargeUnit(At(end))) ++end;
    WritePlain(number, {}, number.end);
    const bool counted = end == number.end && number.decimals.empty() && !number.spelled;
    if (end > at_) Copy(Piece(at_, end), end - at_);
    AppendFor(currency, end - 1, end, out_);
    if (!counted) return;
    // The currency changes the number as a counter does.
    out_.readings.back().pronunciation = CountedNumber(number.value, currency, {});
    out_.readings.back().end = out_.text.size();
  }

  // The sign of a range, 東京〜大阪, or of a long vowel, すごい〜.
  void WriteWave() {
    const char32_t before = at_ > 0 ? At(at_ - 1) : 0;
    const char32_t behind = At(at_ + 1);
    const bool ranges = IsDigit(behind) || IsLatinLetter(behind) || IsKanjiCharacter(behind) ||
                        (IsBetween(behind, U'ァ', U'ヶ') && !IsBetween(before, U'ぁ', U'ゖ'));
    if (ranges && before != 0 && before != ' ') {
      Copy(U"から", 1);
    } else {
      const bool drawn =
          IsAnyKana(before) && (IsAnyKana(behind) || at_ < 2 || !IsAnyKana(At(at_ - 2)));
      Copy(drawn ? U"ー" : U" ", 1);
    }
  }

  void WriteMinus() {
    // The hyphen of a range says から: 1-2時間, 9時-17時.
    constexpr std::u32string_view kCounted = U"時分日月年円歳人%階";
    if (at_ > 0 && IsDigit(At(at_ + 1)) &&
        (IsDigit(At(at_ - 1)) ||
         (at_ > 1 && kCounted.find(At(at_ - 1)) != kCounted.npos && IsDigit(At(at_ - 2)))))
      return Copy(U"から", 1);
    const bool behind_word = at_ > 0 && At(at_ - 1) != ' ' && At(at_ - 1) != '(' &&
                             !IsAnyKana(At(at_ - 1)) && !IsKanjiCharacter(At(at_ - 1));
    Copy(IsDigit(At(at_ + 1)) && !behind_word ? U"マイナス" : U" ", 1);
  }

  PreparedText out_;
};

}  // namespace

absl::Status CheckJapanese(std::string_view source) { return CheckCharacters(source, kJapanese); }

absl::StatusOr<PreparedText> PrepareJapanese(std::string_view source) {
  MILLRACE_ASSIGN_OR_RETURN(auto placed, NormalizeJapanese(source));
  placed = WithKanaDatesInDigits(std::move(placed));
  ReplacePositionalKanji(placed.text);
  return NumberWriter(std::move(placed)).Write();
}

}  // namespace millrace::models
