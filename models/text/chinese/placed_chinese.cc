#include "models/text/chinese/placed_chinese.h"

#include "models/text/chinese/chinese_names.h"
#include "models/text/chinese/chinese_numbers.h"
#include "models/text/folded_text.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Makes the dot between two digits a point where something is counted or measured behind them:
// 1·5倍, but 9·11事件.
void WritePoints(std::u32string& text) {
  for (size_t at = text.find(U'·'); at < text.size(); at = text.find(U'·', at + 1)) {
    if (at == 0 || !IsDigit(text[at - 1])) continue;
    size_t end = at + 1;
    while (end < text.size() && IsDigit(text[end])) ++end;
    const std::u32string_view behind = std::u32string_view(text).substr(end);
    if (end > at + 1 && (behind.starts_with('%') || StartsWithMeasureWord(behind))) text[at] = '.';
  }
}

}  // namespace

PlacedText PlaceChinese(std::string_view source) {
  const auto folded = FoldText(source);
  const std::string_view text = folded ? std::string_view(folded->text) : source;
  const auto origin = [&](size_t at) { return folded ? folded->origins[at] : at; };
  PlacedText placed;
  bool wide_digit = false;  // １ before it
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = DecodeAt(text, at);
    const size_t end = at + point.bytes;
    // The hyphen of "Wi-Fi" divides no letters that are spelled.
    if (point.value == '-' && at > 1 && text.substr(at - 2, 5) == "Wi-Fi") {
      at = end;
      continue;
    }
    const bool wide = origin(end) - origin(at) > point.bytes;
    std::u32string character(1, point.value == 0xFFE5 ? U'¥' : point.value);
    // The comma of a list of numbers is not that of 1,000: 100，200，300.
    if (point.value == ',' && wide && !wide_digit) character = U"，";
    wide_digit = wide && IsDigit(point.value);
    // The label of an item: ①首先.
    if (point.value >= U'①' && point.value <= U'⑳')
      character = ChineseCardinal(point.value - U'①' + 1) + U"、";
    if (point.value >= U'Ⅰ' && point.value <= U'Ⅻ')
      character = ChineseCardinal(point.value - U'Ⅰ' + 1);
    for (const char32_t c : character) placed.Add(c, origin(at), origin(end));
    at = end;
  }
  WritePoints(placed.text);
  return placed;
}

}  // namespace millrace::models
