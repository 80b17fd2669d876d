#include "models/text/chinese/chinese_names.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/core/embedded_table.h"
#include "models/text/chinese/number_neighbours_text.h"
#include "models/text/chinese/numbers_by_digits_text.h"
#include "models/text/neighbours.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

using Words = Neighbours<char32_t>;

const Words& WordsOf(std::string_view kind) {
  static const auto& all = *new auto([] {
    std::unordered_map<std::string_view, Words> words;
    for (const auto& [kind, list] : ReadTable<2>(kNumberNeighboursText))
      words.emplace(kind, Words(list));
    return words;
  }());
  return all.at(kind);
}

// A row of numbers that are said digit by digit.
struct SaidNumbers {
  std::vector<std::u32string> patterns;
  bool telephone = false;
  Words before;
  Words behind;
};

bool Fits(std::u32string_view pattern, std::u32string_view digits) {
  const bool more = pattern.ends_with('+');
  if (more) pattern.remove_suffix(1);
  return (digits.size() == pattern.size() || (more && digits.size() > pattern.size())) &&
         std::ranges::equal(pattern, digits.substr(0, pattern.size()),
                            [](char32_t a, char32_t b) { return a == '#' || a == b; });
}

}  // namespace

bool StartsWithMeasureWord(std::u32string_view text) {
  return WordsOf("measure").BeginBehind(text);
}

bool StartsWithVerbOfScore(std::u32string_view text) { return WordsOf("score").BeginBehind(text); }

bool StartsWithNamedDay(std::u32string_view text) { return WordsOf("day").BeginBehind(text); }

bool EndsNameOfModel(std::u32string_view before) { return WordsOf("model").EndBefore(before); }

std::optional<Digits> SaidByDigits(std::u32string_view digits, std::u32string_view before,
                                   std::u32string_view behind) {
  static const auto& rows = *new auto([] {
    std::vector<SaidNumbers> all;
    for (const auto& [numbers, how, before, behind] : ReadTable<4>(kNumbersByDigitsText)) {
      SaidNumbers& row =
          all.emplace_back(SaidNumbers{{}, how == "phone", Words(before), Words(behind)});
      ForEachWord(numbers, [&row](std::string_view pattern) {
        row.patterns.push_back(DecodeUtf8(pattern));
      });
    }
    return all;
  }());
  // Lines of a picture: 1080P.
  constexpr size_t kFewestLines = 3;
  if (digits.size() >= kFewestLines && !behind.empty() && (behind[0] | 0x20) == 'p' &&
      (behind.size() == 1 || (behind[1] | 0x20) < 'a' || (behind[1] | 0x20) > 'z'))
    return Digits::kTelephone;
  const auto found = std::ranges::find_if(rows, [&](const SaidNumbers& row) {
    return std::ranges::any_of(row.patterns, [&](const auto& p) { return Fits(p, digits); }) &&
           row.before.EndBefore(before) && row.behind.BeginBehind(behind);
  });
  if (found == rows.end()) return std::nullopt;
  return found->telephone ? Digits::kTelephone : Digits::kPlain;
}

bool NamesShortYear(std::u32string_view digits, std::u32string_view behind) {
  if (digits.size() != 2 || !behind.starts_with(U'年')) return false;
  return (behind.size() > 1 && IsDigit(behind[1])) || WordsOf("short-year").BeginBehind(behind);
}

bool CountsRooms(std::u32string_view before, std::u32string_view behind) {
  if (behind.starts_with(U'室'))
    return behind.size() > 1 && (IsDigit(behind[1]) || behind[1] == U'一');
  return (before.ends_with(U'室') || before.ends_with(U'厅')) &&
         (behind.starts_with(U'厅') || behind.starts_with(U'卫'));
}

}  // namespace millrace::models
