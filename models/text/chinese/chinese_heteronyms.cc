#include "models/text/chinese/chinese_heteronyms.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/core/embedded_table.h"
#include "models/text/chinese/chinese_readings_text.h"
#include "models/text/neighbours.h"

namespace millrace::models {
namespace {

// Returns true if the character is one of the others; false for none.
bool IsOf(std::string_view character, std::string_view others) {
  return !character.empty() && others.find(character) != std::string_view::npos;
}

constexpr std::string_view kPronouns = "我你他她它您咱";
constexpr std::string_view kDegrees = "很太真最更好挺特越那这多非十极";

// A word that occurs less often is rather a chance of its characters, as 地走了.
constexpr uint64_t kSeldom = 5;

constexpr size_t kNoEnd = static_cast<size_t>(-1);

// How many characters on each side of a word are its neighbours.
constexpr size_t kNear = 10;

// The characters of a run, and which of them no word decides.
class Characters {
 public:
  Characters(const ChineseLexicon& lexicon, std::span<ChineseReading> words) : words_(words) {
    for (size_t i = 0; i < words.size(); ++i) {
      ChineseReading& word = words[i];
      const size_t count = word.word.size() / kChineseCharacterBytes;
      const bool readable = word.syllables.size() == count;
      const auto known = lexicon.Find(word.word);
      const bool guessed = count > 1 && (!known || known->frequency < kSeldom);
      // Words without a reading of their own are read character by character.
      const bool plain = known && known->pinyin.empty();
      const size_t first = places_.size();
      for (size_t k = 0; k < count; ++k) {
        places_.push_back({word.word.substr(k * kChineseCharacterBytes, kChineseCharacterBytes),
                           readable ? &word.syllables[k] : nullptr, i,
                           readable && (count == 1 || guessed || plain),
                           count == 1 || guessed ? 0 : first,
                           count == 1 || guessed ? kNoEnd : first + count});
      }
    }
  }

  size_t size() const { return places_.size(); }
  std::string_view At(size_t i) const { return places_[i].character; }
  // Return a neighbour of a character; empty beyond the run, and beyond a word of the lexicon,
  // whose characters belong together.
  std::string_view After(size_t i, size_t steps = 1) const {
    const size_t at = i + steps;
    return at < std::min(places_.size(), places_[i].last) ? places_[at].character
                                                          : std::string_view();
  }
  std::string_view Before(size_t i, size_t steps = 1) const {
    return i >= places_[i].first + steps ? places_[i - steps].character : std::string_view();
  }
  // Return the text of the neighbours before and behind a character.
  std::string TextBefore(size_t i) const {
    std::string text;
    for (size_t steps = 1; steps <= kNear && !Before(i, steps).empty(); ++steps)
      text.insert(0, Before(i, steps));
    return text;
  }
  std::string TextAfter(size_t i) const {
    std::string text;
    for (size_t steps = 1; steps <= kNear && !After(i, steps).empty(); ++steps)
      text += After(i, steps);
    return text;
  }
  bool IsFree(size_t i) const { return places_[i].free; }
  // Returns true if no word of the lexicon has the character.
  bool IsLoose(size_t i) const { return places_[i].free && places_[i].last == kNoEnd; }
  // Returns the word that ends before a character, or the part of its own word before it.
  std::string_view WordBefore(size_t i) const {
    if (i == 0) return {};
    const size_t word = places_[i - 1].word;
    if (word != places_[i].word) return words_[word].word;
    size_t begin = i;
    while (begin > 0 && places_[begin - 1].word == word) --begin;
    return words_[word].word.substr(0, (i - begin) * kChineseCharacterBytes);
  }
  void Set(size_t i, std::string_view syllable) { *places_[i].syllable = syllable; }

 private:
  struct Place {
    std::string_view character;
    std::string* syllable = nullptr;
    size_t word = 0;
    bool free = false;
    size_t first = 0;  // the first of its neighbours
    size_t last = 0;   // one past the last of them
  };
  const std::span<ChineseReading> words_;
  std::vector<Place> places_;
};

// Returns true for two characters that are the same.
bool IsDoubled(std::string_view word) {
  return word.size() == 2 * kChineseCharacterBytes &&
         word.substr(0, kChineseCharacterBytes) == word.substr(kChineseCharacterBytes);
}

// Returns true for the particle behind an adverb of two characters or more: 慢慢地走.
bool MakesAdverb(const Characters& run, size_t i) {
  if (IsOf(run.Before(i, 2), "越更")) return run.IsLoose(i);  // 越来越多地
  if (IsOf(run.Before(i), "儿劲")) return run.IsLoose(i);     // 一个劲儿地
  const std::string_view adverb = run.WordBefore(i);
  if (!run.IsLoose(i) || adverb.size() < 2 * kChineseCharacterBytes) return false;
  const std::string_view first = adverb.substr(0, kChineseCharacterBytes);
  // 慢慢地, of which the verb was said before.
  if (i + 1 == run.size()) return IsDoubled(adverb);
  // 一步一步地.
  constexpr size_t kRepeated = 4;
  if (i >= kRepeated && run.At(i - 4) == run.At(i - 2) && run.At(i - 3) == run.At(i - 1))
    return true;
  if (IsOf(first, "这那每几某哪一两三各此本") || IsOf(run.Before(i), "们国村市省家")) return false;
  return !IsOf(run.After(i), "上下里面方很大小少多的是有也被价太非不已铁图址板毯震");
}

// Returns the reading of 得: "must", a particle behind a verb, or empty for "get".
std::string_view ReadingOfDe(const Characters& run, size_t i) {
  const std::string_view before = run.Before(i);
  const std::string_view after = run.After(i);
  // 不得不, 获得好评, 彼得堡.
  if (IsOf(before, "不获取赢夺求所彼")) return "de2";
  if (after.empty() || IsOf(after, "了到过奖分病第罪票名以知逞胜益")) return {};
  if (before.empty()) return run.IsLoose(i) ? "dei3" : std::string_view();  // 得走了
  if (IsOf(before, "我你他她它们您咱都还就也必须可总又只非才")) return "dei3";
  return "de5";
}

// Returns the reading of 长: "long" or "grow"; empty if it is not decided.
std::string_view ReadingOfLong(const Characters& run, size_t i) {
  const std::string_view after = run.After(i);
  const std::string_view before = run.Before(i);
  if (IsOf(after, "大得出成高满胖着起长")) return "zhang3";
  if (before == "长") return "chang2";
  // 路长八公里, but 长一岁.
  if (IsOf(after, "约达一二三四五六七八九十百千两几") && run.After(i, 2) != "岁" &&
      !IsOf(before, kPronouns))
    return "chang2";
  const bool ends = after.empty() && IsOf(before, "也都又却");  // 头发也长
  const bool long_one = ends || IsOf(before, kDegrees) ||
                        IsOf(before, "不么有细漫深够较米尺寸里还期") ||
                        IsOf(after, "的度短达期途久");
  return long_one ? "chang2" : std::string_view();
}

std::string_view Surname(std::string_view character) {
  struct Name {
    std::string_view written;
    std::string_view spoken;
  };
  constexpr Name kNames[] = {{"曾", "zeng1"}, {"单", "shan4"}, {"任", "ren2"}, {"解", "xie4"},
                             {"仇", "qiu2"},  {"朴", "piao2"}, {"查", "zha1"}, {"区", "ou1"},
                             {"华", "hua4"},  {"盖", "ge3"},   {"尉", "wei4"}, {"乐", "yue4"}};
  for (const Name& name : kNames) {
    if (name.written == character) return name.spoken;
  }
  return {};
}

struct ReadingBetween {
  std::string_view pinyin;
  Neighbours<char> before;
  Neighbours<char> after;
};

// Returns the readings that neighbours choose for a word; nullptr for none.
const std::vector<ReadingBetween>* ReadingsOf(std::string_view word) {
  static const auto& readings = *new auto([] {
    std::unordered_map<std::string_view, std::vector<ReadingBetween>> all;
    for (const auto& [word, pinyin, before, after] : ReadTable<4>(kChineseReadingsText))
      all[word].push_back({pinyin, Neighbours<char>(before), Neighbours<char>(after)});
    return all;
  }());
  const auto found = readings.find(word);
  return found == readings.end() ? nullptr : &found->second;
}

// Returns the first reading that fits; empty if none does.
std::string_view ReadingBeside(const std::vector<ReadingBetween>& readings, std::string_view before,
                               std::string_view after) {
  const auto found = std::ranges::find_if(readings, [&](const ReadingBetween& reading) {
    return reading.before.EndBefore(before) && reading.after.BeginBehind(after);
  });
  return found == readings.end() ? std::string_view() : found->pinyin;
}

// Returns the reading of a character that no word decides; empty for the lexicon's.
std::string_view ReadingOf(const Characters& run, size_t i) {
  const std::string_view character = run.At(i);
  const std::string_view before = run.Before(i);
  const std::string_view after = run.After(i);
  if (before == "姓") return Surname(character);
  if (character == "地") return MakesAdverb(run, i) ? "de5" : "di4";
  if (character == "得") return ReadingOfDe(run, i);
  if (character == "长") return ReadingOfLong(run, i);
  if (character == "还") {
    const bool paid = IsOf(after, "给清债钱款账书") || (after == "了" && run.After(i, 2) != "得") ||
                      (IsOf(after, kPronouns) && IsOf(run.After(i, 2), "钱书债东情一两的"));
    return paid ? "huan2" : std::string_view();
  }
  if (character == "了") {
    const bool can = before == "不" && i > 1 && !IsOf(run.Before(i, 2), kPronouns);
    return can ? "liao3" : std::string_view();
  }
  const auto* const readings = ReadingsOf(character);
  if (readings == nullptr) return {};
  return ReadingBeside(*readings, run.TextBefore(i), run.TextAfter(i));
}

// Returns true if the 儿 that the word ends with is a child, or an animal or flower of a song, and
// no ending.
bool KeepsTone(std::string_view word) {
  constexpr size_t kTwo = 2 * kChineseCharacterBytes;
  return word.size() < kTwo || IsOf(word.substr(word.size() - kTwo, kChineseCharacterBytes),
                                    "女婴幼孤少胎生健男妻宠患孙侄产血婉花鸟虫马猪猫狗");
}

// Returns true for a surname with a title behind it that were taken for one word: 仇先生.
bool IsTitled(std::string_view word) {
  constexpr std::string_view kTitles =
      "先生 女士 小姐 老师 经理 医生 教授 同学 主任 局长 师傅 律师 警官 ";
  return word.size() == 3 * kChineseCharacterBytes &&
         kTitles.find(std::string(word.substr(kChineseCharacterBytes)) + ' ') != kTitles.npos;
}

// Gives a word the reading that its neighbours or its last character ask for.
void ReadWord(const ChineseLexicon& lexicon, std::span<ChineseReading> words, size_t i) {
  const std::string_view word = words[i].word;
  std::vector<std::string>& syllables = words[i].syllables;
  if (word == "长长" && i + 1 < words.size() && words[i + 1].word == "了")
    syllables = {"zhang3", "chang2"};  // 头发长长了: it grew long
  if (word.size() > kChineseCharacterBytes && !syllables.empty()) {
    // 草地 and 目的地 are places, but 轻轻地 is an adverb.
    if (word.ends_with("地") && IsDoubled(word.substr(0, word.size() - kChineseCharacterBytes)) &&
        !lexicon.Phonemes("de5").empty()) {
      syllables.back() = "de5";
    } else if (word.ends_with("地") && syllables.back() == "di5") {
      syllables.back() = "di4";
    }
    // 三只 and 两只 count.
    if (word.ends_with("只") && word.size() == 2 * kChineseCharacterBytes &&
        syllables.back() == "zhi3" &&
        IsOf(word.substr(0, kChineseCharacterBytes), "二两三四五六七八九十百千几多数"))
      syllables.back() = "zhi1";
  }
  // 这儿 has an ending, which may be a word of its own.
  if (word.ends_with("儿") && !syllables.empty() && syllables.back() == "er2" &&
      lexicon.marks_spoken_tones() &&
      !KeepsTone(word.size() > kChineseCharacterBytes || i == 0
                     ? std::string(word)
                     : std::string(words[i - 1].word) + std::string(word)))
    syllables.back() = "er5";
  if (syllables.size() * kChineseCharacterBytes == word.size() && IsTitled(word)) {
    const std::string_view name = Surname(word.substr(0, kChineseCharacterBytes));
    if (!lexicon.Phonemes(name).empty()) syllables.front() = name;
  }
  const auto* const readings = word.size() > kChineseCharacterBytes ? ReadingsOf(word) : nullptr;
  if (readings == nullptr) return;
  std::string before;
  for (size_t k = i; k-- > 0 && before.size() < kNear * kChineseCharacterBytes;)
    before.insert(0, words[k].word);
  std::string after;
  for (size_t k = i + 1; k < words.size() && after.size() < kNear * kChineseCharacterBytes; ++k)
    after += words[k].word;
  std::vector<std::string> spoken;
  ForEachWord(ReadingBeside(*readings, before, after),
              [&](std::string_view syllable) { spoken.emplace_back(syllable); });
  const bool known = std::ranges::none_of(
      spoken, [&](const auto& syllable) { return lexicon.Phonemes(syllable).empty(); });
  if (known && spoken.size() == syllables.size()) syllables = std::move(spoken);
}

}  // namespace

void ChooseReadings(const ChineseLexicon& lexicon, std::span<ChineseReading> words) {
  Characters run(lexicon, words);
  for (size_t i = 0; i < run.size(); ++i) {
    if (!run.IsFree(i)) continue;
    const std::string_view syllable = ReadingOf(run, i);
    // The symbols of a package may lack a syllable.
    if (!syllable.empty() && !lexicon.Phonemes(syllable).empty()) run.Set(i, syllable);
  }
  for (size_t i = 0; i < words.size(); ++i) ReadWord(lexicon, words, i);
}

}  // namespace millrace::models
