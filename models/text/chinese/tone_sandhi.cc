#include "models/text/chinese/tone_sandhi.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace millrace::models {
namespace {

constexpr std::string_view kNot = "不";
constexpr std::string_view kOne = "一";
constexpr std::string_view kSuffix = "儿";
constexpr std::string_view kPiece = "个";
constexpr std::string_view kEver = "过";

size_t CountCharacters(std::string_view word) { return word.size() / kChineseCharacterBytes; }

std::string_view CharacterAt(std::string_view word, size_t i) {
  return word.substr(std::min(word.size(), i * kChineseCharacterBytes), kChineseCharacterBytes);
}

// Returns true if it is known which syllable is whose.
bool IsReadable(const ChineseReading& word) {
  return !word.syllables.empty() && word.syllables.size() == CountCharacters(word.word) &&
         std::ranges::none_of(word.syllables, &std::string::empty);
}

// Returns true for a third tone, also one that sounds otherwise before another.
bool IsThird(const std::string& syllable) {
  return syllable.back() == '3' || syllable.back() == kRaisedThirdTone;
}

bool IsReduplicated(std::string_view word) {
  return CountCharacters(word) == 2 && CharacterAt(word, 0) == CharacterAt(word, 1);
}

bool IsOneOf(std::string_view character, std::string_view characters) {
  return !character.empty() && characters.find(character) != std::string_view::npos;
}

// Gives the third tones of a word their sound, as misaki does: of two characters the first, of
// three those before the last that belong together, of four those of pairs. first_part: how many of
// the characters were a word of their own before, 0 for a word of the lexicon.
void RaiseThirdTones(std::vector<std::string>& syllables, size_t first_part) {
  const auto raise = [&](size_t i) {
    if (IsThird(syllables[i]) && IsThird(syllables[i + 1])) syllables[i].back() = kRaisedThirdTone;
  };
  const size_t count = syllables.size();
  constexpr size_t kTwoPairs = 4;
  if (count == 3) {
    if (first_part == 0) return;
    if (std::ranges::all_of(syllables, IsThird)) {
      // 可以 | 走, but 我 | 可以.
      syllables[0].back() = first_part == 2 ? kRaisedThirdTone : '3';
      syllables[1].back() = kRaisedThirdTone;
    } else {
      raise(0);
      if (first_part == 1) raise(1);
    }
    return;
  }
  if (count > kTwoPairs) return;
  for (size_t i = 0; i + 1 < count; i += 2) raise(i);
}

// Appends a word to the one before it.
void Append(const ChineseReading& next, ChineseReading& word) {
  const bool single = word.first_part == 1 && CountCharacters(word.word) == 2;
  word.first_part = single ? 1 : CountCharacters(word.word);
  word.word = {word.word.data(), word.word.size() + next.word.size()};
  word.syllables.insert(word.syllables.end(), next.syllables.begin(), next.syllables.end());
}

// Joins each word with the one before it for which `belongs` says so.
template <typename Belongs>
void Join(std::vector<ChineseReading>& words, bool chains, Belongs belongs) {
  size_t size = 0;
  bool joined = false;
  for (ChineseReading& word : words) {
    joined = size > 0 && (chains || !joined) && IsReadable(words[size - 1]) && IsReadable(word) &&
             belongs(words[size - 1], word);
    if (joined) {
      Append(word, words[size - 1]);
    } else {
      if (&words[size] != &word) words[size] = std::move(word);
      ++size;
    }
  }
  words.resize(size);
}

// Makes words one that are spoken as one: 不 and 一 with the next word, 看一看, doubled words, two
// with third tones, and 儿 with the word before it.
void JoinWords(std::vector<ChineseReading>& words) {
  using Reading = ChineseReading;
  const auto fits = [](const Reading& word, const Reading& next) {
    constexpr size_t kMostCharacters = 3;
    return !IsReduplicated(word.word) &&
           CountCharacters(word.word) + CountCharacters(next.word) <= kMostCharacters;
  };
  Join(words, false, [](const Reading& word, const Reading&) { return word.word == kNot; });
  for (size_t i = 1; i + 1 < words.size(); ++i) {
    if (words[i].word == kOne && words[i - 1].word == words[i + 1].word && IsReadable(words[i]))
      words[i - 1].is_repeated = true;
  }
  Join(words, true, [](const Reading& word, const Reading& next) {
    return word.is_repeated && (next.word == kOne || word.word.ends_with(kOne));
  });
  Join(words, false, [](const Reading& word, const Reading&) { return word.word == kOne; });
  Join(words, true,
       [](const Reading& word, const Reading& next) { return word.word == next.word; });
  Join(words, false, [fits](const Reading& word, const Reading& next) {
    return fits(word, next) && std::ranges::all_of(word.syllables, IsThird) &&
           std::ranges::all_of(next.syllables, IsThird);
  });
  Join(words, false, [fits](const Reading& word, const Reading& next) {
    return fits(word, next) && IsThird(word.syllables.back()) && IsThird(next.syllables.front());
  });
  Join(words, true, [](const Reading&, const Reading& next) { return next.word == kSuffix; });
}

// Returns true for the first of several classes or schools: 一班的学生, 在一中, but 一班人,
// 坐一班车.
bool NamesClass(std::string_view before, std::string_view behind) {
  if (CharacterAt(behind, 0) == "中") return true;
  return CharacterAt(behind, 0) == "班" && !IsOneOf(before, "每坐赶下上这那末头后有值同换倒轮等") &&
         !IsOneOf(CharacterAt(behind, 1), "人车飞船地火公航子岗");
}

// Changes the tone of 一 by its neighbours. before: the last character of the word before; behind:
// three characters behind it.
void ChangeOne(ChineseReading& word, size_t i, std::string_view before, std::string_view behind) {
  if (i > 0) before = CharacterAt(word.word, i - 1);
  const bool ends = i + 1 == word.syllables.size();
  const std::string_view after = CharacterAt(behind, 0);
  char& tone = word.syllables[i].back();
  // 一点五, but 一点三十分; 一比二, 一加一, 一等于一.
  constexpr std::string_view kDigits = "零一二三四五六七八九";
  const bool decimal = IsOneOf(after, "点比加减乘至") && IsOneOf(CharacterAt(behind, 1), kDigits) &&
                       (after != "点" || CharacterAt(behind, 2) != "十");
  const bool equals = after == "等" && CharacterAt(behind, 1) == "于";
  constexpr auto kOrdinals =
      std::to_array<std::string_view>({"一月", "一号", "一楼", "一级", "一流", "一线", "一审",
                                       "一模", "一环", "一季度", "一把手", "一等奖", "一年级"});
  const bool ordinal = i == 0 && std::ranges::any_of(kOrdinals, [&](std::string_view one) {
                         return word.word.starts_with(one);
                       });
  // A number said in order or digit by digit keeps its tone: 第一天, 十一点, 一二三, 一月一日.
  if (IsOneOf(before, "第初〇零一二三四五六七八九十") ||
      IsOneOf(after, "〇零一二三四五六七八九十") || decimal || equals || ordinal ||
      NamesClass(before, behind) || (before == "月" && after == "日") ||
      (word.word == kOne && IsOneOf(after, "月号楼"))) {
    tone = '1';
  } else if (!before.empty() && before == after) {
    tone = '5';  // 看一看
  } else if (tone == '1' && !ends) {
    const char follows = word.syllables[i + 1].back();
    tone = follows == '4' || follows == '5' ? '2' : '4';
  }
}

// Returns true if 过 at `k` says that something was done before: 去过, 参加过, but 过年.
bool IsExperience(const std::vector<ChineseReading>& words, size_t k) {
  constexpr std::string_view kVerbs =
      "去来看吃喝做说用有到听见想写学玩住买坐走读打试问演拍得受历生现及触加与验闻养建议论表示";
  constexpr std::string_view kPassed = "年节河桥关冬夜境街路海江";
  if (k == 0) return false;
  const std::string_view verb = words[k - 1].word;
  return IsOneOf(verb.substr(verb.size() - std::min(verb.size(), kChineseCharacterBytes)),
                 kVerbs) &&
         (k + 1 == words.size() || !IsOneOf(CharacterAt(words[k + 1].word, 0), kPassed));
}

}  // namespace

void ChangeTones(std::vector<ChineseReading>& words) {
  JoinWords(words);
  for (size_t k = 0; k < words.size(); ++k) {
    ChineseReading& word = words[k];
    if (!IsReadable(word)) continue;
    RaiseThirdTones(word.syllables, word.first_part);
    const std::string_view before = k > 0 ? words[k - 1].word : std::string_view();
    for (size_t i = word.syllables.size(); i-- > 0;) {
      const std::string_view character = CharacterAt(word.word, i);
      const bool last = i + 1 == word.syllables.size();
      char& tone = word.syllables[i].back();
      if (word.word == kPiece || (word.word == kEver && IsExperience(words, k))) tone = '5';
      // 看不见, but 好久不见, of which phrases have a neutral tone.
      const bool between = i == 1 && word.syllables.size() == 3;
      if (character == kNot && between) tone = '5';
      if (character == kNot && !last && !between && word.syllables[i + 1].back() == '4' &&
          (tone == '4' || tone == '5'))
        tone = '2';
      if (character == kOne) {
        constexpr size_t kBehind = 3;
        std::string behind(word.word.substr((i + 1) * kChineseCharacterBytes));
        for (size_t next = k + 1; next < words.size() && CountCharacters(behind) < kBehind; ++next)
          behind += words[next].word;
        ChangeOne(word, i,
                  before.substr(before.size() - std::min(before.size(), kChineseCharacterBytes)),
                  behind);
      }
    }
  }
  for (ChineseReading& word : words) {
    for (std::string& syllable : word.syllables) {
      if (!syllable.empty() && syllable.back() == kRaisedThirdTone) syllable.back() = '2';
    }
  }
}

}  // namespace millrace::models
