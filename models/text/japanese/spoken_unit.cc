#include "models/text/japanese/spoken_unit.h"

#include <algorithm>
#include <array>
#include <utility>

#include "models/text/japanese/normalized_text.h"
#include "models/text/unicode.h"

namespace millrace::models {

std::string Utf8(std::u32string_view text) {
  std::string utf8;
  for (const char32_t c : text) utf8 += EncodeUtf8(c);
  return utf8;
}

void DropReadings(std::u32string_view text, std::vector<SpokenUnit>& units) {
  for (size_t open = 1; open + 1 < units.size(); ++open) {
    if (units[open].kana != "(") continue;
    std::string reading;
    size_t close = open + 1;
    for (; close < units.size() && !units[close].mark &&
           std::ranges::all_of(
               text.substr(units[close].begin, units[close].end - units[close].begin), IsAnyKana);
         ++close)
      reading += units[close].kana;
    if (close == units.size() || units[close].kana != ")" || reading.empty()) continue;
    std::string said;
    for (size_t i = open; i-- > 0 && !units[i].mark && said.size() < reading.size();)
      said.insert(0, units[i].kana);
    std::erase(said, ' ');
    if (said == reading)
      units.erase(units.begin() + static_cast<std::ptrdiff_t>(open),
                  units.begin() + static_cast<std::ptrdiff_t>(close) + 1);
  }
}

std::vector<SpokenUnit> JoinWords(std::u32string_view text, std::vector<SpokenUnit> units,
                                  const JapaneseWords& words) {
  if (words.size() == 0) return units;
  std::vector<SpokenUnit> joined;
  for (size_t i = 0; i < units.size();) {
    std::string word;
    size_t end = i + 1;
    for (size_t k = i; k < units.size() && units[k].joins && word.size() <= words.longest(); ++k) {
      word += Utf8(text.substr(units[k].begin, units[k].end - units[k].begin));
      if (k > i && words.Contains(word)) end = k + 1;
    }
    SpokenUnit unit = std::move(units[i]);
    // The number and the counter of one unit may be such a word too.
    if (end > i + 1 || (unit.joins && unit.kana.find(' ') != std::string::npos &&
                        words.Contains(Utf8(text.substr(unit.begin, unit.end - unit.begin)))))
      std::erase(unit.kana, ' ');
    for (++i; i < end; ++i) {
      unit.kana += units[i].kana;
      unit.end = units[i].end;
    }
    joined.push_back(std::move(unit));
  }
  return joined;
}

KanaText WriteKana(const std::vector<SpokenUnit>& units) {
  KanaText text;
  for (size_t i = 0; i < units.size(); ++i) {
    const SpokenUnit& unit = units[i];
    // A doubled consonant is spoken with the word behind it, イッ テ; a small one, a long vowel and
    // the end of one are with that before.
    constexpr std::array<std::string_view, 5> kJoined = {"ッ", "ャ", "ュ", "ョ", "ー"};
    const bool doubled =
        text.kana.ends_with("ッ") || (text.kana.ends_with("ー") && unit.kana.starts_with("ン")) ||
        std::ranges::any_of(kJoined, [&](auto kana) { return unit.kana.starts_with(kana); });
    if (!text.kana.empty() && !unit.mark && !units[i - 1].mark && !doubled) text.kana += ' ';
    if (unit.mark && unit.kana.empty()) text.kana += ' ';
    text.kana += unit.kana;
    text.units.resize(text.kana.size(), i);
  }
  return text;
}

}  // namespace millrace::models
