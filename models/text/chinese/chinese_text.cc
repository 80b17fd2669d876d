#include "models/text/chinese/chinese_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "models/text/folded_text.h"
#include "models/text/foreign_script.h"
#include "models/text/read_letters.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr std::u32string_view kChineseDigits = U"零一二三四五六七八九";
constexpr size_t kMaxCardinalDigits = 16;

constexpr ReadLetters kChinese = {
    [](char32_t c) { return IsChineseCharacter(c) || ForeignScript(c) == "Chinese characters"; },
    ", which is not read in Chinese"};

// Appends four digits or fewer. `inner`: digits stand before them, so that a gap is 零.
void AppendChineseGroup(unsigned value, bool inner, std::u32string& text) {
  constexpr std::u32string_view kPlaces = U"千百十";
  unsigned place = 1000;
  bool gap = false;
  bool begun = inner;
  for (size_t i = 0; i <= kPlaces.size(); ++i, place /= 10) {
    const unsigned digit = value / place % 10;
    if (digit == 0) {
      gap = begun;
      continue;
    }
    if (gap) text += U'零';
    gap = false;
    // 十五 alone, but 一百一十五.
    if (!(i == 2 && digit == 1 && !begun)) text += kChineseDigits[digit];
    if (i < kPlaces.size()) text += kPlaces[i];
    begun = true;
  }
}

std::u32string ChineseCardinal(uint64_t value) {
  if (value == 0) return U"零";
  constexpr std::array<std::u32string_view, 4> kGroups = {U"", U"万", U"亿", U"万亿"};
  std::u32string text;
  uint64_t unit = 1'000'000'000'000;
  for (size_t i = kGroups.size(); i-- > 0; unit /= 10'000) {
    const auto part = static_cast<unsigned>(value / unit % 10'000);
    if (part == 0) continue;
    AppendChineseGroup(part, !text.empty(), text);
    text += kGroups[i];
  }
  return text;
}

// Returns the names of the digits one by one; in telephone numbers 1 is 幺.
std::u32string ChineseDigits(std::u32string_view digits, bool telephone) {
  std::u32string text;
  for (const char32_t c : digits) text += telephone && c == '1' ? U'幺' : kChineseDigits[c - '0'];
  return text;
}

struct ChineseUnit {
  std::u32string_view written;
  std::u32string_view spoken;
};

// Behind a number. A longer one comes before one that it begins with.
constexpr std::array kChineseUnits = std::to_array<ChineseUnit>({
    {U"km/h", U"公里每小时"},
    {U"km", U"公里"},
    {U"kg", U"公斤"},
    {U"cm", U"厘米"},
    {U"mm", U"毫米"},
    {U"mg", U"毫克"},
    {U"ml", U"毫升"},
    {U"mL", U"毫升"},
    {U"m²", U"平方米"},
    {U"m", U"米"},
    {U"g", U"克"},
    {U"L", U"升"},
    {U"℃", U"摄氏度"},
    {U"°C", U"摄氏度"},
    {U"°", U"度"},
});

std::u32string_view ChineseCurrency(char32_t c) {
  switch (c) {
    case U'¥':
      return U"元";
    case '$':
      return U"美元";
    case U'€':
      return U"欧元";
    case U'£':
      return U"英镑";
    default:
      return {};
  }
}

bool IsAsciiLetter32(char32_t c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

class ChineseNumberWriter {
 public:
  explicit ChineseNumberWriter(ChineseText in) : in_(std::move(in)) {}

  ChineseText Write() {
    while (at_ < in_.text.size()) {
      const char32_t c = At(at_);
      const bool digit_behind = IsDigit(At(at_ + 1));
      if (IsDigit(c)) {
        WriteNumber({});
      } else if (const auto currency = ChineseCurrency(c); !currency.empty() && digit_behind) {
        ++at_;
        WriteNumber(currency);
      } else if ((c == '-' || c == U'−') && digit_behind) {
        Put(at_ > 0 && IsDigit(At(at_ - 1)) ? U"至" : U"负", at_ + 1);
      } else if ((c == '~' || c == U'〜' || c == U'～') && digit_behind) {
        Put(U"至", at_ + 1);
      } else if (c == U'〇') {
        Put(U"零", at_ + 1);
      } else {
        Put(std::u32string(1, c), at_ + 1);
      }
    }
    return std::move(out_);
  }

 private:
  char32_t At(size_t i) const { return i < in_.text.size() ? in_.text[i] : 0; }

  size_t DigitsEnd(size_t i) const {
    while (IsDigit(At(i))) ++i;
    return i;
  }

  std::u32string_view Piece(size_t begin, size_t end) const {
    return std::u32string_view(in_.text).substr(begin, end - begin);
  }

  // Appends characters for the input from `at_` to `end`.
  void Put(std::u32string_view text, size_t end) {
    for (const char32_t c : text) {
      out_.text += c;
      out_.begins.push_back(in_.begins[at_]);
      out_.ends.push_back(in_.ends[end - 1]);
    }
    at_ = end;
  }

  static uint64_t ValueOf(std::u32string_view digits) {
    uint64_t value = 0;
    for (const char32_t c : digits) value = value * 10 + (c - '0');
    return value;
  }

  // Returns the value of one or two digits at `i`, and moves `i` behind them.
  std::optional<uint64_t> TwoDigits(size_t& i) const {
    const size_t end = DigitsEnd(i);
    if (end == i || end - i > 2) return std::nullopt;
    const uint64_t value = ValueOf(Piece(i, end));
    i = end;
    return value;
  }

  // 2025-05-01 and 2025/5/1.
  bool WriteDate() {
    const size_t year_end = DigitsEnd(at_);
    const char32_t separator = At(year_end);
    if (year_end - at_ != 4 || (separator != '-' && separator != '/' && separator != '.'))
      return false;
    size_t i = year_end + 1;
    const auto month = TwoDigits(i);
    if (!month || *month < 1 || *month > 12 || At(i) != separator) return false;
    ++i;
    const auto day = TwoDigits(i);
    if (!day || *day < 1 || *day > 31 || At(i) == separator) return false;
    Put(ChineseDigits(Piece(at_, year_end), false) + U"年" + ChineseCardinal(*month) + U"月" +
            ChineseCardinal(*day) + U"日",
        i);
    return true;
  }

  bool WriteTime() {
    size_t i = at_;
    const auto hour = TwoDigits(i);
    if (!hour || *hour > 24 || At(i) != ':') return false;
    const size_t minutes = ++i;
    const auto minute = TwoDigits(i);
    if (!minute || *minute > 59 || i - minutes != 2 || At(i) == ':') return false;
    std::u32string text = (*hour == 2 ? U"两" : ChineseCardinal(*hour)) + U"点";
    if (*minute > 0) {
      if (*minute < 10) text += U'零';
      text += ChineseCardinal(*minute) + U"分";
    }
    Put(text, i);
    return true;
  }

  bool WriteFraction() {
    size_t i = at_;
    const auto numerator = TwoDigits(i);
    if (!numerator || At(i) != '/') return false;
    ++i;
    const auto denominator = TwoDigits(i);
    if (!denominator || *denominator == 0 || At(i) == '/') return false;
    Put(ChineseCardinal(*denominator) + U"分之" + ChineseCardinal(*numerator), i);
    return true;
  }

  // Telephone numbers: groups of digits with hyphens, and eleven digits that begin with 1.
  bool WriteTelephone() {
    std::u32string text;
    size_t digits = 0;
    size_t groups = 0;
    size_t end = at_;
    for (size_t i = at_; IsDigit(At(i)); i = end + 1, ++groups) {
      end = DigitsEnd(i);
      digits += end - i;
      text += ChineseDigits(Piece(i, end), true);
      if (At(end) != '-') {
        ++groups;
        break;
      }
    }
    const bool mobile = groups == 1 && digits == 11 && At(at_) == '1';
    if (!mobile && (groups < 2 || digits < 7)) return false;
    Put(text, end);
    return true;
  }

  void WriteNumber(std::u32string_view currency) {
    if (currency.empty() && (WriteDate() || WriteTime() || WriteFraction() || WriteTelephone()))
      return;
    size_t end = DigitsEnd(at_);
    std::u32string digits(Piece(at_, end));
    if (digits.size() <= 3) {
      while (At(end) == ',' && DigitsEnd(end + 1) == end + 4) {
        digits += Piece(end + 1, end + 4);
        end += 4;
      }
    }
    const bool year = digits.size() == 4 && At(end) == U'年';
    const bool padded = digits.size() > 1 && digits[0] == '0';
    std::u32string text;
    if (year || padded || digits.size() > kMaxCardinalDigits) {
      text = ChineseDigits(digits, false);
    } else {
      const uint64_t value = ValueOf(digits);
      constexpr std::u32string_view kMeasureWords =
          U"个位次只条张本件天周块种家辆座台间部层瓶杯双对";
      const bool pair =
          value == 2 && At(end) != 0 && kMeasureWords.find(At(end)) != std::u32string_view::npos;
      text = pair ? U"两" : ChineseCardinal(value);
    }
    if (At(end) == '.' && IsDigit(At(end + 1))) {
      const size_t decimals_end = DigitsEnd(end + 1);
      text += U"点" + ChineseDigits(Piece(end + 1, decimals_end), false);
      end = decimals_end;
    }
    if (!currency.empty()) {
      Put(text, end);
      while (At(at_) == U'万' || At(at_) == U'亿') Put(std::u32string(1, At(at_)), at_ + 1);
      --at_;
      Put(currency, at_ + 1);
      return;
    }
    if (At(end) == '%') {
      Put(U"百分之" + text, end + 1);
      return;
    }
    const std::u32string_view rest = std::u32string_view(in_.text).substr(end);
    for (const ChineseUnit& unit : kChineseUnits) {
      const size_t behind = end + unit.written.size();
      if (!rest.starts_with(unit.written)) continue;
      if (IsAsciiLetter32(unit.written.back()) && IsAsciiLetter32(At(behind))) continue;
      Put(text + std::u32string(unit.spoken), behind);
      return;
    }
    Put(text, end);
  }

  const ChineseText in_;
  size_t at_ = 0;
  ChineseText out_;
};

}  // namespace

absl::Status CheckChinese(std::string_view source) { return CheckCharacters(source, kChinese); }

absl::StatusOr<ChineseText> WriteChineseOut(std::string_view source) {
  if (absl::Status status = CheckChinese(source); !status.ok()) return status;
  const auto folded = FoldText(source);
  const std::string_view text = folded ? std::string_view(folded->text) : source;
  const auto origin = [&](size_t at) { return folded ? folded->origins[at] : at; };
  ChineseText placed;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = DecodeAt(text, at);
    const size_t end = at + point.bytes;
    placed.text += point.value == 0xFFE5 ? U'¥' : point.value;
    placed.begins.push_back(origin(at));
    placed.ends.push_back(origin(end));
    at = end;
  }
  return ChineseNumberWriter(std::move(placed)).Write();
}

}  // namespace millrace::models
