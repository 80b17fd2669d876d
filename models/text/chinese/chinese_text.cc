#include "models/text/chinese/chinese_text.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/core/errors.h"
#include "models/text/chinese/chinese_names.h"
#include "models/text/chinese/chinese_numbers.h"
#include "models/text/chinese/chinese_signs.h"
#include "models/text/chinese/formatted_number_cursor.h"
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

class ChineseNumberWriter : private FormattedNumberCursor {
 public:
  using FormattedNumberCursor::FormattedNumberCursor;

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
    if (currency.empty() && WriteFormatted()) return;
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
