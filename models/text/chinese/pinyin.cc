#include "models/text/chinese/pinyin.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace millrace::models {
namespace {

constexpr size_t kMaxSyllable = 6;  // "zhuang"
constexpr size_t kMaxLetters = 36;

// A letter without its mark, and the tone of the mark; 0 for none.
struct Letter {
  char plain = '\0';  // ' for an apostrophe
  char tone = 0;
};

// Returns the letter; one without `plain` for characters that pinyin does not have.
Letter LetterOf(char32_t c) {
  struct Vowel {
    char plain;
    std::u32string_view marked;  // in the order of the tones
  };
  constexpr std::array<Vowel, 7> kVowels = {{{'a', U"āáǎà"},
                                             {'e', U"ēéěè"},
                                             {'i', U"īíǐì"},
                                             {'o', U"ōóǒò"},
                                             {'u', U"ūúǔù"},
                                             {'v', U"ǖǘǚǜ"},
                                             {'A', U"ĀÁǍÀ"}}};
  if (c >= 'a' && c <= 'z') return {static_cast<char>(c), 0};
  if (c >= 'A' && c <= 'Z') return {static_cast<char>(c - 'A' + 'a'), 0};
  if (c == U'ü') return {'v', 0};
  if (c == '\'' || c == 0x2019) return {'\'', 0};
  for (const Vowel& vowel : kVowels) {
    const size_t tone = vowel.marked.find(c);
    if (tone != vowel.marked.npos)
      return {vowel.plain == 'A' ? 'a' : vowel.plain, static_cast<char>('1' + tone)};
  }
  // The other vowels begin no word as capitals but these.
  constexpr std::u32string_view kCapitals = U"ĒÉĚÈŌÓǑÒ";
  const size_t capital = kCapitals.find(c);
  if (capital == kCapitals.npos) return {};
  return {capital < 4 ? 'e' : 'o', static_cast<char>('1' + capital % 4)};
}

bool IsVowel(char letter) { return letter == 'a' || letter == 'e' || letter == 'o'; }

// Divides the letters from `at` on into syllables, the longest first. Returns false if they cannot
// be. A syllable that begins with a vowel within a word stands behind an apostrophe.
bool Divide(std::span<const Letter> letters, size_t at,
            const std::function<bool(std::string_view)>& is_syllable,
            std::vector<std::string>& syllables) {
  if (at == letters.size()) return true;
  const bool apart = letters[at].plain == '\'';
  if (apart) ++at;
  if (at == letters.size() || (at > 0 && !apart && IsVowel(letters[at].plain))) return false;
  for (size_t size = std::min(kMaxSyllable, letters.size() - at); size > 0; --size) {
    std::string syllable;
    char tone = 0;
    bool marked_once = true;
    for (const Letter& letter : letters.subspan(at, size)) {
      syllable += letter.plain;
      if (letter.tone == 0) continue;
      marked_once = marked_once && tone == 0;
      tone = letter.tone;
    }
    const bool neutral = tone == 0 && at > 0 && at + size == letters.size();
    if (!marked_once || (tone == 0 && !neutral)) continue;
    syllable += neutral ? '5' : tone;
    if (!is_syllable(syllable)) continue;
    syllables.push_back(std::move(syllable));
    if (Divide(letters, at + size, is_syllable, syllables)) return true;
    syllables.pop_back();
  }
  return false;
}

}  // namespace

PinyinWord ReadPinyin(std::u32string_view text, size_t begin,
                      const std::function<bool(std::string_view syllable)>& is_syllable) {
  PinyinWord word{begin, {}};
  std::vector<Letter> letters;
  bool marked = false;
  for (; word.end < text.size(); ++word.end) {
    const Letter letter = LetterOf(text[word.end]);
    if (letter.plain == '\0' || letters.size() == kMaxLetters) break;
    marked = marked || letter.tone != 0;
    letters.push_back(letter);
  }
  while (!letters.empty() && letters.back().plain == '\'') {
    letters.pop_back();
    --word.end;
  }
  if (!marked || letters.size() == kMaxLetters || letters.front().plain == '\'' ||
      !Divide(letters, 0, is_syllable, word.syllables))
    word.syllables.clear();
  return word;
}

}  // namespace millrace::models
