#include "models/text/japanese/reading_in_context.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/core/embedded_table.h"
#include "models/text/japanese/kana_words_text.h"
#include "models/text/japanese/names_text.h"
#include "models/text/japanese/readings_in_context_text.h"
#include "models/text/neighbours.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

struct ReadingBetween {
  std::u32string spoken;
  Neighbours<char32_t> before;
  Neighbours<char32_t> after;
  std::string_view pronounced;
};

const std::unordered_map<std::u32string, std::vector<ReadingBetween>>& Readings() {
  static const auto& readings = *new auto([] {
    std::unordered_map<std::u32string, std::vector<ReadingBetween>> all;
    for (const auto& [word, spoken, before, after, pronounced] :
         ReadTable<5>(kReadingsInContextText)) {
      all[DecodeUtf8(word)].push_back({DecodeUtf8(spoken), Neighbours<char32_t>(before),
                                       Neighbours<char32_t>(after), pronounced});
    }
    return all;
  }());
  return readings;
}

// Returns the day of the week in brackets: 5月5日(日).
std::u32string_view DayInBrackets(std::u32string_view before, char32_t day,
                                  std::u32string_view after) {
  constexpr std::u32string_view kDays = U"月火水木金土日";
  constexpr std::array<std::u32string_view, 7> kNames = {U"ゲツ", U"カ", U"スイ", U"モク",
                                                         U"キン", U"ド", U"ニチ"};
  const size_t found = kDays.find(day);
  const bool opens = before.ends_with(U"日(") || before.ends_with(U"日（");
  const bool closes = after.starts_with(U")") || after.starts_with(U"）");
  // 月から金.
  constexpr std::u32string_view kTo = U"から";
  const auto is_day = [&](std::u32string_view text, size_t at) {
    return at < text.size() && kDays.find(text[at]) != kDays.npos;
  };
  const bool range = (before.ends_with(kTo) && is_day(before, before.size() - kTo.size() - 1)) ||
                     (after.starts_with(kTo) && is_day(after, kTo.size()));
  return found != kDays.npos && ((opens && closes) || range) ? kNames[found]
                                                             : std::u32string_view();
}

// Words with their kana, sorted.
using KanaWords = std::vector<std::pair<std::u32string, std::u32string>>;

KanaWords ReadKanaWords(std::string_view table) {
  KanaWords words;
  for (const auto& [written, spoken] : ReadTable<2>(table))
    words.emplace_back(DecodeUtf8(written), DecodeUtf8(spoken));
  std::ranges::sort(words);
  return words;
}

// Returns the longest word that the text begins with.
KanaWord FindLongest(const KanaWords& words, std::u32string_view rest) {
  KanaWord longest;
  for (auto word =
           std::ranges::lower_bound(words, rest.substr(0, 1), {}, &KanaWords::value_type::first);
       word != words.end() && word->first.front() == rest.front(); ++word) {
    if (rest.starts_with(word->first)) longest = {word->first, word->second};
  }
  return longest;
}

}  // namespace

std::u32string_view ReadingInContext(std::u32string_view text, size_t begin, size_t end,
                                     std::string_view pronounced) {
  constexpr size_t kNear = 10;
  const std::u32string_view word = text.substr(begin, end - begin);
  const size_t near = begin - std::min(begin, kNear);
  const std::u32string_view before = text.substr(near, begin - near);
  const std::u32string_view after = text.substr(end, kNear);
  if (word.size() == 1) {
    if (const auto day = DayInBrackets(before, word.front(), after); !day.empty()) return day;
  }
  constexpr size_t kLongest = 4;
  if (word.size() > kLongest) return {};
  const auto found = Readings().find(std::u32string(word));
  if (found == Readings().end()) return {};
  for (const ReadingBetween& reading : found->second) {
    const bool fits = reading.before.EndBefore(before) && reading.after.BeginBehind(after);
    if (fits && (reading.pronounced.empty() || reading.pronounced == pronounced))
      return reading.spoken;
  }
  return {};
}

KanaWord FindKanaWord(std::u32string_view text, size_t begin) {
  static const auto& words = *new KanaWords(ReadKanaWords(kKanaWordsText));
  return FindLongest(words, text.substr(begin));
}

KanaWord FindName(std::u32string_view text, size_t begin) {
  static const auto& names = *new KanaWords(ReadKanaWords(kNamesText));
  return FindLongest(names, text.substr(begin));
}

}  // namespace millrace::models
