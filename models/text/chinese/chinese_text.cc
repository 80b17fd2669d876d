#include "models/text/chinese/chinese_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/core/errors.h"
#include "models/text/chinese/chinese_cursor.h"
#include "models/text/chinese/chinese_names.h"
#include "models/text/chinese/chinese_numbers.h"
#include "models/text/chinese/chinese_signs.h"
#include "models/text/chinese/placed_chinese.h"
#include "models/text/foreign_script.h"
#include "models/text/read_letters.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxCardinalDigits = 16;
constexpr ReadLetters kChinese = {
    [](char32_t c) { return IsChineseCharacter(c) || ForeignScript(c) == "Chinese characters"; },
    ", which is not read in Chinese"};

class ChineseNumberWriter : private ChineseCursor {
 public:
  using ChineseCursor::ChineseCursor;

  PlacedText Write() {
    while (at_ < in_.text.size()) {
      const char32_t c = At(at_);
      const bool digit_behind = IsDigit(At(at_ + 1));
      if (IsDigit(c)) {
        WriteNumber({});
      } else if (WriteMoney() || WriteOperator() || WriteSign() ||
                 (c == '/' && EndsAmount(at_) && WritePer())) {
        continue;
      } else if ((c == '-' || c == U'−') && digit_behind) {
        Put(HyphenBeforeNumber(), at_ + 1);
      } else if (digit_behind && (c == '~' || c == U'〜' || c == U'～' ||
                                  ((c == U'–' || c == U'—') && EndsNumber(at_)))) {
        Put(U"至", at_ + 1);
      } else if ((c == ':' || c == U'∶') && digit_behind && at_ > 0 && IsDigit(At(at_ - 1))) {
        Put(U"比", at_ + 1);
      } else if (std::u32string name(OperandName(c)); !name.empty()) {
        if (name.find(U'分') != name.npos && EndsNumber(at_)) name.insert(0, 1, U'又');  // 1½
        Put(name, at_ + 1);
      } else if (c == '.' && at_ > 0 && (IsAsciiLetter32(At(at_ - 1)) || IsDigit(At(at_ - 1))) &&
                 IsSmallLetter(At(at_ + 1))) {
        Put(U"点", at_ + 1);  // baidu.com, 163.com
      } else if (c == U'〇') {
        Put(U"零", at_ + 1);
      } else {
        Put(std::u32string(1, c), at_ + 1);
      }
    }
    return std::move(out_);
  }

 private:
  // Returns what a hyphen before a digit is: of a range, of a score, of a name (COVID-19), a minus.
  std::u32string_view HyphenBeforeNumber() const {
    if (EndsNumber(at_)) {
      size_t begin = at_;
      while (begin > 0 && IsDigit(At(begin - 1))) --begin;
      if (begin < at_ && LettersBefore(begin) > 0) return U" ";  // i5-12400
      if (Follows(begin, {U"图", U"表", U"式"})) return U"杠";   // 图3-2
      return Follows(begin, {U"比分", U"以", U"队"}) || IsScore(begin) ? U"比" : U"至";
    }
    if (at_ > 0 && IsAsciiLetter32(At(at_ - 1))) return U" ";
    if (EndsNameOfModel(Piece(0, at_)) && !EndsAmount(at_)) return {};
    // 100元-200元, 5月1日-3日.
    constexpr std::u32string_view kCounted =
        U"元块月日号年天周点时分秒米克斤吨度岁人个次件万亿千页";
    const bool counted = at_ > 0 && kCounted.find(At(at_ - 1)) != kCounted.npos && EndsAmount(at_);
    return counted && At(NumberEnd(at_ + 1)) != '%' ? U"至" : U"负";
  }

  // Returns true if the number from `begin` on and the one behind the hyphen are a score, of which
  // the winner's is first: 2-0.
  bool IsScore(size_t begin) const {
    constexpr size_t kMostDigits = 3;
    const size_t end = DigitsEnd(at_ + 1);
    if (at_ - begin > kMostDigits || end - at_ - 1 > kMostDigits || DigitsEnd(begin) != at_)
      return false;
    const std::u32string_view behind = Rest(end);
    constexpr std::u32string_view kShortVerbs = U"胜负平";
    if (StartsWithVerbOfScore(behind) || kShortVerbs.find(At(end)) != kShortVerbs.npos) return true;
    const bool ends = behind.empty() || MarkBehind(behind.front());
    const bool starts = begin == 0 || !IsAsciiLetter32(At(begin - 1));
    // 国安2-1申花, but 5-3号楼.
    constexpr std::u32string_view kNumbered = U"号单栋室楼期月日级度层班";
    const bool between = begin > 0 && IsChineseCharacter(At(begin - 1)) &&
                         IsChineseCharacter(At(end)) && !StartsWithMeasureWord(behind) &&
                         (kNumbered.find(At(end)) == kNumbered.npos || behind.starts_with(U"日本"));
    return (ends || between) && starts &&
           (ValueOf(Piece(begin, at_)) > ValueOf(Piece(at_ + 1, end)) ||
            (between && Piece(begin, at_) == U"0"));
  }

  static bool MarkBehind(char32_t c) {
    constexpr std::u32string_view kMarks = U" ，。！？；、,!?;）)";
    return kMarks.find(c) != kMarks.npos;
  }

  // Writes signs outside of sums: of an address, of a comparison, of a root, of a power.
  bool WriteSign() {
    const char32_t c = At(at_);
    const char32_t before = at_ > 0 ? At(at_ - 1) : 0;
    const std::u32string_view rest = Rest(at_);
    if (const auto& [written, spoken] = ChineseLabelAt(rest);
        !written.empty() && !IsAsciiLetter32(before)) {
      Put(spoken, at_ + written.size());
      return true;
    }
    // 中国vs美国.
    if (std::u32string versus(rest.substr(0, 2)); !IsAsciiLetter32(before)) {
      for (char32_t& c : versus) c |= 0x20;
      const size_t length = At(at_ + 2) == '.' ? 3 : 2;
      if (versus == U"vs" && !IsAsciiLetter32(At(at_ + length)) && !IsDigit(At(at_ + length))) {
        Put(U"对", at_ + length);
        return true;
      }
    }
    const char32_t behind = At(at_ + 1);
    const bool number_before = IsDigit(before) || before == '%';
    size_t digits = at_;
    while (digits > 0 && IsDigit(At(digits - 1))) --digits;
    const auto is_minute = [](char32_t mark) { return mark == '\'' || mark == U'′'; };
    if (is_minute(c) && IsDigit(before) && IsDigit(behind)) {
      Put(U"分", at_ + 1);  // 3'20"
    } else if ((c == '"' || c == U'″') && digits > 0 && digits < at_ && is_minute(At(digits - 1))) {
      Put(U"秒", at_ + 1);
    } else if (c == '@' &&
               (IsAsciiLetter32(behind) || IsDigit(behind) || IsChineseCharacter(behind))) {
      Put(U"艾特", at_ + 1);
    } else if (c == '&' && IsAsciiLetter32(before) && IsAsciiLetter32(behind)) {
      Put(U"和", at_ + 1);  // A&B
    } else if (c == '#' && IsAsciiLetter32(before) && !IsAsciiLetter32(behind)) {
      Put(U"井", at_ + 1);  // C#
    } else if (c == '+' && !IsDigit(behind) &&
               (number_before || EndsLetters(at_) || EndsAmount(at_))) {
      Put(U"加", at_ + 1);  // 100+, C++
    } else if (c == '"' && IsDigit(before) && std::ranges::count(Piece(0, at_), U'"') % 2 == 0) {
      Put(U"英寸", at_ + 1);
    } else if (const auto name = SignBeforeNumber(c);
               !name.empty() && !number_before && IsDigit(At(at_ + (behind == ' ' ? 2 : 1)))) {
      Put(name, at_ + 1);
    } else {
      size_t length = 0;
      const std::u32string power = IsDigit(before) || IsAsciiLetter32(before) || before == ')'
                                       ? PowerWords(rest, length)
                                       : std::u32string();
      if (power.empty()) return false;
      Put(power, at_ + length);
    }
    return true;
  }

  // Writes the sign of a sum: 6×8=48, 5 - 2 = 3.
  bool WriteOperator() {
    const std::u32string_view name = OperatorName(At(at_));
    if (name.empty()) return false;
    size_t before = at_;
    while (before > 0 && At(before - 1) == ' ') --before;
    size_t behind = at_ + 1;
    while (At(behind) == ' ') ++behind;
    const auto is_operand = [this](size_t i) {
      return IsDigit(At(i)) || IsPowerSign(At(i)) ||
             (At(at_) != '-' && (IsAsciiLetter32(At(i)) || !OperandName(At(i)).empty()));
    };
    // 1千米=1000米.
    const bool amounts = At(at_) == '=' && EndsAmount(before);
    if (before == 0 || !(is_operand(before - 1) || amounts) || !is_operand(behind)) return false;
    if (At(at_) == '-' || At(at_) == U'−') {
      size_t end = DigitsEnd(behind);
      while (At(end) == ' ') ++end;
      if (At(end) != '=') return false;
    }
    Put(name, at_ + 1);
    return true;
  }

  // ¥100, HK$100.
  bool WriteMoney() {
    if (at_ > 0 && IsAsciiLetter32(At(at_ - 1)) && IsAsciiLetter32(At(at_))) return false;
    const UnitName* const currency = ChineseCurrencyAt(Rest(at_));
    if (currency == nullptr || !IsDigit(At(at_ + currency->written.size()))) return false;
    at_ += currency->written.size();
    WriteNumber(currency->spoken);
    return true;
  }

  // 2019-2023, 2023/24.
  bool WriteYears() {
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

  // 5.1劳动节, 10.1国庆节.
  bool WriteNamedDay() {
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

  // 1.2.3, 192.168.0.1.
  bool WriteVersion() {
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

  // Numbers that are names: 打110, 密码是1234, CA1234.
  bool WriteCode() {
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
    if (letters == 0 || digits < 3 || (kBehind.find(At(end)) != kBehind.npos && !train))
      return false;
    // The numbers of flights and trains are said as those of telephones.
    constexpr size_t kAirline = 2;
    Put(ChineseDigits(Piece(at_, end), letters == kAirline || train), end);
    return true;
  }

  // 2025-05-01, 2025/5/1 and 日期:20250501.
  bool WriteDate() {
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

  bool WriteTime() {
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

  bool WriteFraction() {
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

  // Returns true if a space and four digits are there.
  bool IsGroupOfFour(size_t begin) const {
    return At(begin - 1) == ' ' && DigitsEnd(begin) == begin + 4;
  }

  // Telephone numbers: groups of digits with hyphens, and eleven digits that begin with 1.
  bool WriteTelephone() {
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

  // Returns true if a unit in letters is behind a number, of which there are 两.
  bool UnitCounts(size_t end) const {
    const UnitName* const unit = ChineseUnitAt(Rest(end));
    return unit != nullptr &&
           (IsAsciiLetter32(unit->written.front()) || unit->written.front() >= U'㎀');
  }

  // 100元/人, 5元/kg.
  bool WritePer() {
    const UnitName* const unit = ChineseUnitAt(Rest(at_ + 1));
    if (unit == nullptr && !IsChineseCharacter(At(at_ + 1))) return false;
    Put(unit == nullptr ? U"每" : U"每" + unit->spoken,
        at_ + 1 + (unit == nullptr ? 0 : unit->written.size()));
    return true;
  }

  void WriteNumber(std::u32string_view currency) {
    if (currency.empty() &&
        (WriteDate() || WriteTime() || WriteFraction() || WriteYears() || WriteNamedDay() ||
         WriteVersion() || WriteCode() || WriteTelephone())) {
      return;
    }
    size_t end = DigitsEnd(at_);
    std::u32string digits(Piece(at_, end));
    if (digits.size() <= 3) {
      while (At(end) == ',' && DigitsEnd(end + 1) == end + 4) {
        digits += Piece(end + 1, end + 4);
        end += 4;
      }
    }
    const std::u32string_view behind_digits = Rest(end);
    const auto is_behind = [behind_digits](std::u32string_view word) {
      return behind_digits.starts_with(word);
    };
    const bool year =
        (digits.size() == 4 && is_behind(U"年")) || NamesShortYear(digits, behind_digits) ||
        (IsYear(at_, end) &&
         (is_behind(U"Q") || is_behind(U"财年") || is_behind(U"学年") || is_behind(U"届") ||
          is_behind(U"款") || is_behind(U"版") || is_behind(U"赛季")));
    const bool padded = digits.size() > 1 && digits[0] == '0';
    // The number of an account.
    constexpr size_t kLongCardinal = 12;
    const bool account = digits.size() > kLongCardinal && !digits.ends_with(U"0000");
    std::u32string text;
    if (year || padded || account || digits.size() > kMaxCardinalDigits) {
      text = ChineseDigits(digits, false);
    } else {
      const uint64_t value = ValueOf(digits);
      // 第二次, 二年级.
      const bool counts = value == 2 && !Follows(at_, {U"第"}) && !is_behind(U"年级") &&
                          (StartsWithMeasureWord(behind_digits) || UnitCounts(end) ||
                           CountsRooms(Piece(0, at_), behind_digits));
      text = counts ? U"两" : ChineseCardinal(value);
    }
    if (At(end) == '.' && IsDigit(At(end + 1))) {
      const size_t decimals_end = DigitsEnd(end + 1);
      std::u32string_view decimals = Piece(end + 1, decimals_end);
      const char32_t behind = At(decimals_end);
      const bool yuan = currency == U"元" || (currency.empty() && behind == U'元');
      constexpr size_t kHundredths = 2;
      if (yuan && decimals.size() == kHundredths && behind != U'万' && behind != U'亿') {
        return Put(ChineseYuan(digits == U"2" ? U"两" : text, decimals),
                   decimals_end + (behind == U'元' ? 1 : 0));
      }
      while (!currency.empty() && decimals.ends_with(U'0')) decimals.remove_suffix(1);
      if (!decimals.empty()) text += U"点" + ChineseDigits(decimals, false);
      end = decimals_end;
    }
    if (!currency.empty()) {
      Put(text, end);
      while (At(at_) == U'万' || At(at_) == U'亿') Put(std::u32string(1, At(at_)), at_ + 1);
      // "$100美元" names it already.
      if (Rest(at_).starts_with(currency)) return;
      --at_;
      Put(currency, at_ + 1);
      return;
    }
    if (At(end) == '%' || At(end) == U'‰') {
      if (text == U"一百") text = U"百";
      Put((At(end) == '%' ? U"百分之" : U"千分之") + text, end + 1);
      return;
    }
    // 奥迪A4L is a name.
    const UnitName* const unit = ChineseUnitAt(Rest(end));
    if (unit != nullptr && (unit->written.size() > 1 || LettersBefore(at_) == 0))
      return Put(text + unit->spoken, end + unit->written.size());
    // The tone of 一 stays in names and scores: F1赛车, 2:1结束.
    if (text == U"一" && IsChineseCharacter(At(end)) &&
        (LettersBefore(at_) > 0 || out_.text.ends_with(U"比")))
      text += U' ';
    Put(text, end);
  }
};

}  // namespace

absl::Status CheckChinese(std::string_view source) { return CheckCharacters(source, kChinese); }

absl::StatusOr<PlacedText> WriteChineseOut(std::string_view source) {
  MILLRACE_RETURN_IF_ERROR(CheckChinese(source));
  return ChineseNumberWriter(PlaceChinese(source)).Write();
}

}  // namespace millrace::models
