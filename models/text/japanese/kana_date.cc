#include "models/text/japanese/kana_date.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "models/text/unicode.h"

namespace millrace::models {
namespace {

struct KanaNumber {
  std::u32string_view written;
  unsigned value;
};

// The longer ones of the same end are first.
constexpr std::array<KanaNumber, 12> kMonths = {{{U"じゅういちがつ", 11},
                                                 {U"じゅうにがつ", 12},
                                                 {U"じゅうがつ", 10},
                                                 {U"いちがつ", 1},
                                                 {U"にがつ", 2},
                                                 {U"さんがつ", 3},
                                                 {U"しがつ", 4},
                                                 {U"ごがつ", 5},
                                                 {U"ろくがつ", 6},
                                                 {U"しちがつ", 7},
                                                 {U"はちがつ", 8},
                                                 {U"くがつ", 9}}};
constexpr std::array<KanaNumber, 13> kDays = {{{U"にじゅうよっか", 24},
                                               {U"じゅうよっか", 14},
                                               {U"ついたち", 1},
                                               {U"ふつか", 2},
                                               {U"みっか", 3},
                                               {U"よっか", 4},
                                               {U"いつか", 5},
                                               {U"むいか", 6},
                                               {U"なのか", 7},
                                               {U"ようか", 8},
                                               {U"ここのか", 9},
                                               {U"とおか", 10},
                                               {U"はつか", 20}}};
constexpr std::array<KanaNumber, 9> kOnes = {{{U"いち", 1},
                                              {U"に", 2},
                                              {U"さん", 3},
                                              {U"ご", 5},
                                              {U"ろく", 6},
                                              {U"しち", 7},
                                              {U"なな", 7},
                                              {U"はち", 8},
                                              {U"く", 9}}};

// Takes the first number that the text begins with; returns 0 if there is none.
unsigned Take(std::span<const KanaNumber> numbers, std::u32string_view& text) {
  for (const KanaNumber& number : numbers) {
    if (!text.starts_with(number.written)) continue;
    text.remove_prefix(number.written.size());
    return number.value;
  }
  return 0;
}

// Takes a day of the month, ふつか or にじゅうごにち; returns 0 if there is none.
unsigned TakeDay(std::u32string_view& text) {
  if (const unsigned day = Take(kDays, text); day > 0) return day;
  constexpr std::array<KanaNumber, 3> kTens = {
      {{U"にじゅう", 20}, {U"さんじゅう", 30}, {U"じゅう", 10}}};
  std::u32string_view rest = text;
  const unsigned tens = Take(kTens, rest);
  const unsigned ones = tens == 0 || rest.starts_with(U"にち") ? 0 : Take(kOnes, rest);
  constexpr std::u32string_view kDay = U"にち";
  if (tens + ones == 0 || tens + ones > 31 || !rest.starts_with(kDay)) return 0;
  text = rest.substr(kDay.size());
  return tens + ones;
}

}  // namespace

PlacedText WithKanaDatesInDigits(PlacedText text) {
  const std::u32string_view all = text.text;
  if (all.find(U"がつ") == all.npos) return text;
  PlacedText out;
  for (size_t at = 0; at < all.size();) {
    std::u32string_view rest = all.substr(at);
    const unsigned month = Take(kMonths, rest);
    // Without a day がつ is more often a particle before a verb.
    const unsigned day = month > 0 ? TakeDay(rest) : 0;
    if (day == 0) {
      out.Add(all[at], text.begins[at], text.ends[at]);
      ++at;
      continue;
    }
    const size_t end = all.size() - rest.size();
    for (const char32_t c : DecodeUtf8(std::to_string(month) + "月" + std::to_string(day) + "日"))
      out.Add(c, text.begins[at], text.ends[end - 1]);
    at = end;
  }
  return out;
}

}  // namespace millrace::models
