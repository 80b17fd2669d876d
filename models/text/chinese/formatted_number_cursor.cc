#include "models/text/chinese/formatted_number_cursor.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "models/text/chinese/chinese_names.h"
#include "models/text/chinese/chinese_numbers.h"

namespace millrace::models {

bool FormattedNumberCursor::WriteFormatted() {
  return WriteDate() || WriteTime() || WriteFraction() || WriteYears() || WriteNamedDay() ||
         WriteVersion() || WriteCode() || WriteTelephone();
}

bool FormattedNumberCursor::WriteYears() {
  const size_t end = DigitsEnd(at_);
  const char32_t joint = At(end);
  constexpr uint64_t kCentury = 100;
  if (size_t i = end + 1; joint == '/' && IsYear(at_, end)) {
    const auto next = ShortNumber(i, 2);
    if (!next || *next != (ValueOf(Piece(at_, end)) + 1) % kCentury || At(i) == '/') return false;
    Put(ChineseDigits(Piece(at_, end), false) + ChineseDigits(Piece(end + 1, i), false), i);
    return true;
  }
  if (joint != '-' && joint != U'–' && joint != U'—' && joint != '~') return false;
  const size_t last = DigitsEnd(end + 1);
  // 鲁迅(1881—1936).
  const bool lived = At(last) == ')' && end == at_ + 4 && last == end + 5 && At(at_) == '1';
  const bool years = IsYear(at_, end) && IsYear(end + 1, last);
  if ((!years && !lived) || At(last) == joint) return false;
  Put(ChineseDigits(Piece(at_, end), false) + U"至" + ChineseDigits(Piece(end + 1, last), false),
      last);
  return true;
}

bool FormattedNumberCursor::WriteNamedDay() {
  constexpr size_t kMostDigits = 2;
  const size_t point = DigitsEnd(at_);
  const size_t end = DigitsEnd(point + 1);
  if (At(point) != '.' || point - at_ > kMostDigits || end == point + 1 ||
      end - point - 1 > kMostDigits || !StartsWithNamedDay(Rest(end)))
    return false;
  const bool national = Piece(at_, end) == U"10.1";
  Put(national
          ? U"十一"
          : ChineseDigits(Piece(at_, point), false) + ChineseDigits(Piece(point + 1, end), false),
      end);
  return true;
}

bool FormattedNumberCursor::WriteVersion() {
  std::u32string text;
  size_t points = 0;
  size_t end = 0;
  for (size_t i = at_;; i = end + 1, ++points) {
    end = DigitsEnd(i);
    text += ChineseDigits(Piece(i, end), false);
    if (At(end) != '.' || !IsDigit(At(end + 1))) break;
    text += U'点';
  }
  if (points < 2) return false;
  Put(text, end);
  return true;
}

bool FormattedNumberCursor::WriteCode() {
  const size_t end = DigitsEnd(at_);
  const size_t digits = end - at_;
  const size_t letters = LettersBefore(at_);
  // 163.com, 歼-20 and 9·11.
  const bool address = At(end) == '.' && IsSmallLetter(At(end + 1));
  const bool model = at_ > 1 && digits > 1 && At(at_ - 1) == '-' && !EndsAmount(at_ - 1) &&
                     EndsNameOfModel(Piece(0, at_ - 1));
  const bool day = (at_ > 1 && At(at_ - 1) == U'·' && IsDigit(At(at_ - 2))) ||
                   (At(end) == U'·' && IsDigit(At(end + 1)));
  const auto said = SaidByDigits(Piece(at_, end), BeforeJoints(at_), Rest(end));
  if (address || model || day || said) {
    Put(ChineseDigits(Piece(at_, end), said == Digits::kTelephone), end);
    return true;
  }
  if (digits == 3 && Piece(0, at_).ends_with(U"波音")) {  // 波音737-800
    const size_t variant = At(end) == '-' ? DigitsEnd(end + 1) : end;
    std::u32string text = ChineseDigits(Piece(at_, end), false);
    if (variant > end + 1) text += U' ' + ChineseCardinal(ValueOf(Piece(end + 1, variant)));
    Put(text, std::max(end, variant));
    return true;
  }
  constexpr std::u32string_view kBehind = U"分.,:-/个元块万次折";
  // G1234次 is a train.
  const bool train = letters == 1 && At(end) == U'次';
  if (letters == 0 || digits < 3 || (kBehind.find(At(end)) != kBehind.npos && !train)) return false;
  // The numbers of flights and trains are said as those of telephones.
  constexpr size_t kAirline = 2;
  Put(ChineseDigits(Piece(at_, end), letters == kAirline || train), end);
  return true;
}

bool FormattedNumberCursor::WriteDate() {
  const size_t year_end = DigitsEnd(at_);
  if (year_end == at_ + 8 && IsYear(at_, at_ + 4) && Follows(at_, {U"日期", U"生日", U"时间"})) {
    const uint64_t month = ValueOf(Piece(at_ + 4, at_ + 6));
    Put(ChineseDigits(Piece(at_, at_ + 4), false) + U"年" + ChineseCardinal(month) + U"月" +
            ChineseCardinal(ValueOf(Piece(at_ + 6, year_end))) + U"日",
        year_end);
    return true;
  }
  const char32_t separator = At(year_end);
  if (year_end - at_ != 4 || (separator != '-' && separator != '/' && separator != '.'))
    return false;
  size_t i = year_end + 1;
  const auto month = ShortNumber(i, 2);
  if (!month || *month < 1 || *month > 12 || At(i) != separator) return false;
  ++i;
  const auto day = ShortNumber(i, 2);
  if (!day || *day < 1 || *day > 31 || At(i) == separator) return false;
  Put(ChineseDigits(Piece(at_, year_end), false) + U"年" + ChineseCardinal(*month) + U"月" +
          ChineseCardinal(*day) + U"日",
      i);
  return true;
}

bool FormattedNumberCursor::WriteTime() {
  size_t i = at_;
  const auto hour = ShortNumber(i, 2);
  if (!hour || *hour > 24 || At(i) != ':') return false;
  const size_t minutes = ++i;
  const auto minute = ShortNumber(i, 2);
  if (!minute || *minute > 59 || i - minutes != 2) return false;
  if (StartsWithVerbOfScore(Rest(i))) return false;  // 21:19获胜
  std::optional<uint64_t> second;
  if (At(i) == ':') {
    const size_t seconds = ++i;
    second = ShortNumber(i, 2);
    if (!second || *second > 59 || i - seconds != 2 || At(i) == ':') return false;
  }
  const bool lasts = second && Follows(at_, {U"成绩", U"用时", U"耗时", U"时长", U"跑出"});
  std::u32string text = (*hour == 2 ? U"两" : ChineseCardinal(*hour)) + (lasts ? U"小时" : U"点");
  if (*minute > 0) {
    if (*minute < 10) text += U'零';
    text += ChineseCardinal(*minute) + U"分";
  }
  if (second) text += ChineseCardinal(*second) + U"秒";
  Put(text, i);
  return true;
}

bool FormattedNumberCursor::WriteFraction() {
  size_t i = at_;
  const auto numerator = ShortNumber(i, 2);
  if (!numerator || At(i) != '/') return false;
  ++i;
  const auto denominator = ShortNumber(i, 2);
  if (!denominator || *denominator == 0 || At(i) == '/') return false;
  // 1/1.3英寸, but 3/2.5.
  const size_t end = NumberEnd(i);
  const bool decimals = At(i) == '.' && end > i + 1;
  if (decimals && *numerator != 1) return false;
  constexpr uint64_t kHours = 24;
  constexpr uint64_t kDays = 7;
  if (numerator == kHours && denominator == kDays) {
    Put(U"二十四小时七天", i);
    return true;
  }
  std::u32string text = ChineseCardinal(*denominator);
  if (decimals) text += U"点" + ChineseDigits(Piece(i + 1, end), false);
  Put(text + U"分之" + ChineseCardinal(*numerator), decimals ? end : i);
  return true;
}

bool FormattedNumberCursor::IsGroupOfFour(size_t begin) const {
  return At(begin - 1) == ' ' && DigitsEnd(begin) == begin + 4;
}

bool FormattedNumberCursor::WriteTelephone() {
  std::u32string text;
  size_t digits = 0;
  size_t groups = 0;
  size_t end = at_;
  // 138 1234 5678, +86 10 1234 5678, 6222 0212 3456 7890.
  const size_t first = DigitsEnd(at_) - at_;
  const size_t second = at_ + first + 1;
  const bool spaced = (((first == 3 && At(at_) == '1') || first == 4) && IsGroupOfFour(second) &&
                       IsGroupOfFour(second + 5)) ||
                      Piece(0, at_).ends_with(U"+86 ");
  for (size_t i = at_; IsDigit(At(i)); i = end + 1, ++groups) {
    end = DigitsEnd(i);
    digits += end - i;
    text += ChineseDigits(Piece(i, end), true);
    // 010-8888 6666.
    const bool divided = groups > 0 && end - i == 4 && At(end) == ' ' && IsGroupOfFour(end + 1);
    if (At(end) != '-' && !divided && (!spaced || At(end) != ' ' || !IsDigit(At(end + 1)))) {
      ++groups;
      break;
    }
  }
  const bool mobile = groups == 1 && digits == 11 && At(at_) == '1';
  // 取件码3-2-8805.
  if (!mobile && (groups < 2 || (groups < 3 && digits < 7))) return false;
  Put(text, end);
  return true;
}

}  // namespace millrace::models
