#include "models/text/chinese/chinese_names.h"

#include <algorithm>
#include <array>

#include "models/text/unicode.h"

namespace millrace::models {
namespace {

template <size_t n>
bool StartsWithAny(std::u32string_view text, const std::array<std::u32string_view, n>& words) {
  return std::ranges::any_of(words, [text](auto word) { return text.starts_with(word); });
}

constexpr auto kMeasureWords = std::to_array<std::u32string_view>(
    {U"个",   U"星期", U"位", U"次", U"只", U"条", U"张", U"本",   U"件",   U"天", U"周",
     U"块",   U"种",   U"家", U"辆", U"座", U"台", U"间", U"部",   U"层",   U"瓶", U"杯",
     U"双",   U"对",   U"岁", U"名", U"人", U"倍", U"份", U"句",   U"首",   U"篇", U"封",
     U"把",   U"片",   U"盒", U"包", U"袋", U"碗", U"斤", U"公里", U"公斤", U"米", U"元",
     U"小时", U"分钟", U"秒", U"年", U"万", U"千", U"亿", U"口",   U"场",   U"支", U"根",
     U"套",   U"棵",   U"头", U"匹", U"所", U"栋", U"吨", U"升",   U"克",   U"点"});

}  // namespace

bool StartsWithMeasureWord(std::u32string_view text) { return StartsWithAny(text, kMeasureWords); }

bool StartsWithVerbOfScore(std::u32string_view text) {
  constexpr auto kVerbs =
      std::to_array<std::u32string_view>({U"战胜", U"击败", U"获胜", U"取胜", U"领先", U"大胜",
                                          U"险胜", U"完胜", U"逆转", U"告负", U"落败", U"力克"});
  return StartsWithAny(text, kVerbs);
}

bool EndsNameOfModel(std::u32string_view before) {
  constexpr auto kNames = std::to_array<std::u32string_view>(
      {U"歼",   U"运",   U"轰",   U"直",   U"图",   U"苏",   U"米",   U"强",   U"安",
       U"伊尔", U"米格", U"空警", U"东风", U"巨浪", U"红旗", U"鹰击", U"霹雳", U"长征",
       U"神舟", U"天舟", U"嫦娥", U"天宫", U"天问", U"翼龙", U"彩虹"});
  return std::ranges::any_of(kNames, [before](auto name) { return before.ends_with(name); });
}

bool IsSaidByDigits(std::u32string_view digits, std::u32string_view behind) {
  // Generations, 90后, lines of a picture, 1080P, buses, 301路, and rooms, 1203房间.
  constexpr size_t kBus = 3;
  constexpr size_t kGeneration = 2;
  if (digits.size() == kGeneration && behind.starts_with(U"后") && digits.ends_with('0'))
    return true;
  const auto is_letter = [behind](size_t i) {
    return i < behind.size() && ((behind[i] | 0x20) >= 'a' && (behind[i] | 0x20) <= 'z');
  };
  if (digits.size() >= kBus && (behind.starts_with(U"P") || behind.starts_with(U"p")) &&
      !is_letter(1))
    return true;
  constexpr auto kRooms =
      std::to_array<std::u32string_view>({U"房间", U"室", U"号房", U"教室", U"号会议室"});
  if ((digits.size() == kBus && behind.starts_with(U"路")) ||
      (digits.size() >= kBus && StartsWithAny(behind, kRooms)))
    return true;
  constexpr size_t kHotline = 5;
  constexpr auto kCounted = std::to_array<std::u32string_view>(
      {U"元", U"人", U"个", U"次", U"万", U"块", U"件", U"名", U"米", U"吨", U"辆", U"年"});
  if (digits == U"12306" || digits == U"10086" ||
      (digits.size() == kHotline && digits.starts_with(U"955")))
    return !StartsWithAny(behind, kCounted);
  constexpr auto kSchools =
      std::to_array<std::u32string_view>({U"高校", U"大学", U"院校", U"工程", U"学校"});
  if (digits == U"211" || digits == U"985") return StartsWithAny(behind, kSchools);
  if (digits == U"996") return behind.starts_with(U"工作制");
  constexpr auto kDays =
      std::to_array<std::u32string_view>({U"大促", U"购物节", U"年中", U"晚会", U"活动", U"期间"});
  return (digits == U"618" || digits == U"315") && StartsWithAny(behind, kDays);
}

bool NamesShortYear(std::u32string_view digits, std::u32string_view behind) {
  constexpr auto kBehind = std::to_array<std::u32string_view>(
      {U"年世界杯", U"年奥运", U"年欧洲杯", U"年洪水", U"年出生", U"年毕业", U"年入学", U"年春",
       U"年夏天", U"年秋", U"年冬", U"年初", U"年底", U"年末"});
  if (digits.size() != 2 || !behind.starts_with(U'年')) return false;
  return (behind.size() > 1 && IsDigit(behind[1])) || StartsWithAny(behind, kBehind);
}

bool CountsRooms(std::u32string_view before, std::u32string_view behind) {
  if (behind.starts_with(U'室'))
    return behind.size() > 1 && (IsDigit(behind[1]) || behind[1] == U'一');
  return (before.ends_with(U'室') || before.ends_with(U'厅')) &&
         (behind.starts_with(U'厅') || behind.starts_with(U'卫'));
}

}  // namespace millrace::models
