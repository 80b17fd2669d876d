#include "models/text/chinese/tone_sandhi.h"

#include <cstddef>

namespace millrace::models {
namespace {

// A character of the words, and its syllable.
struct Place {
  std::string_view character;
  std::string* syllable = nullptr;
  size_t word = 0;
};

bool IsOneOf(std::string_view character, std::string_view characters) {
  return !character.empty() && characters.find(character) != std::string_view::npos;
}

// Changes the tone of 一 by its neighbours.
void ChangeOne(std::span<const Place> places, size_t i, std::span<const ChineseReading> words) {
  const std::string_view before = i > 0 ? places[i - 1].character : std::string_view();
  const Place* next = i + 1 < places.size() ? &places[i + 1] : nullptr;
  const std::string_view after = next == nullptr ? std::string_view() : next->character;
  char& tone = places[i].syllable->back();
  const std::string_view word = words[places[i].word].word;
  // A number said in order or digit by digit keeps its tone: 第一天, 十一点, 一二三, 一月.
  if (IsOneOf(before, "第初〇零一二三四五六七八九十") ||
      IsOneOf(after, "〇零一二三四五六七八九十") || word == "一月" || word == "一号" ||
      word == "一楼" || (word == "一" && IsOneOf(after, "月号楼"))) {
    tone = '1';
  } else if (!before.empty() && before == after) {
    tone = '5';  // 看一看
  } else if (tone == '1' && next != nullptr && next->syllable != nullptr &&
             (word == "一" || next->word == places[i].word)) {
    const char follows = next->syllable->back();
    if (follows >= '1' && follows <= '4') tone = follows == '4' ? '2' : '4';
  }
}

}  // namespace

void ChangeTones(std::span<ChineseReading> words) {
  std::vector<Place> places;
  for (size_t i = 0; i < words.size(); ++i) {
    ChineseReading& word = words[i];
    // It is not known which syllable is whose in a word with characters that have no reading.
    if (word.syllables.size() * kChineseCharacterBytes != word.word.size()) {
      places.push_back({});
      continue;
    }
    for (size_t k = 0; k < word.syllables.size(); ++k) {
      std::string* const syllable = word.syllables[k].empty() ? nullptr : &word.syllables[k];
      places.push_back(
          {word.word.substr(k * kChineseCharacterBytes, kChineseCharacterBytes), syllable, i});
    }
  }
  // From the end, because a syllable sounds by what the next one has become.
  for (size_t i = places.size(); i-- > 0;) {
    const Place& place = places[i];
    if (place.syllable == nullptr) continue;
    if (place.character == "一") ChangeOne(places, i, words);
    if (i + 1 == places.size() || places[i + 1].syllable == nullptr) continue;
    const Place& next = places[i + 1];
    // More than three characters are spoken in groups, between which a third tone stays.
    constexpr size_t kGroupBytes = 3 * kChineseCharacterBytes;
    const bool together =
        place.word == next.word ||
        words[place.word].word.size() + words[next.word].word.size() <= kGroupBytes;
    const char follows = next.syllable->back();
    char& tone = place.syllable->back();
    if (place.character == "不" && tone == '4' && follows == '4') tone = '2';
    if (tone == '3' && follows == '3' && together) tone = '2';
  }
}

}  // namespace millrace::models
