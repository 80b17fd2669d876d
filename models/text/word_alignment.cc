#include "models/text/word_alignment.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "models/text/phoneme_words.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxCells = 4'000'000;

enum class Kind : uint8_t {
  kSound,
  kStress,  // or length: they come and go in a sentence
  kSpace,
  kWordEnd,  // between two words, which may be spoken together
  kMark,     // the mark of a pause
};

struct Symbol {
  Kind kind = Kind::kMark;
  char32_t value = 0;
  size_t at = 0;  // byte
};

std::vector<Symbol> ToSymbols(std::string_view phonemes) {
  std::vector<Symbol> symbols;
  for (size_t at = 0; at < phonemes.size();) {
    const CodePoint c = DecodeAt(phonemes, at);
    const bool stress = c.value == U'ˈ' || c.value == U'ˌ' || c.value == U'ː';
    const Kind kind = stress             ? Kind::kStress
                      : IsSpace(c.value) ? Kind::kSpace
                      : IsSound(c.value) ? Kind::kSound
                                         : Kind::kMark;
    symbols.push_back({kind, c.value, at});
    at += c.bytes;
  }
  return symbols;
}

// Returns the cost of a symbol of the words or of the sentence without a counterpart.
uint32_t Missing(const Symbol& symbol) { return symbol.kind == Kind::kSound ? 2 : 1; }
uint32_t Added(const Symbol& symbol) {
  if (symbol.kind == Kind::kMark) return 0;
  return symbol.kind == Kind::kStress ? 1 : 2;
}

bool MayMatch(const Symbol& alone, const Symbol& spoken) {
  if (spoken.kind == Kind::kSpace)
    return alone.kind == Kind::kSpace || alone.kind == Kind::kWordEnd;
  return alone.kind == spoken.kind && alone.kind != Kind::kMark;
}

// Returns less than the cost of a missing and an added symbol.
uint32_t Different(const Symbol& alone, const Symbol& spoken) {
  if (spoken.kind == Kind::kSpace || alone.value == spoken.value) return 0;
  // This is the sound of a t or d between vowels of two words.
  const bool flap = spoken.value == U'ɾ' && (alone.value == 't' || alone.value == 'd');
  return alone.kind == Kind::kStress || flap ? 1 : 3;
}

enum class Step : uint8_t { kMatch, kAdded, kMissing };

// Returns for each kWordEnd in order the first symbol of the sentence after it.
std::vector<size_t> FindWordEnds(const std::vector<Symbol>& alone,
                                 const std::vector<Symbol>& spoken) {
  const size_t width = spoken.size() + 1;
  std::vector<Step> steps((alone.size() + 1) * width);
  std::vector<uint32_t> above;
  std::vector<uint32_t> row(width);
  for (size_t i = 0; i <= alone.size(); ++i) {
    std::swap(above, row);
    row.assign(width, 0);
    for (size_t j = i == 0 ? 1 : 0; j < width; ++j) {
      uint32_t best = UINT32_MAX;
      const auto offer = [&](uint32_t cost, Step step) {
        if (cost >= best) return;
        best = cost;
        steps[i * width + j] = step;
      };
      if (i > 0 && j > 0 && MayMatch(alone[i - 1], spoken[j - 1]))
        offer(above[j - 1] + Different(alone[i - 1], spoken[j - 1]), Step::kMatch);
      // This is offered first, so it wins ties: a stress after a word's end belongs to the next
      // word.
      if (j > 0) offer(row[j - 1] + Added(spoken[j - 1]), Step::kAdded);
      if (i > 0) offer(above[j] + Missing(alone[i - 1]), Step::kMissing);
      row[j] = best;
    }
  }
  std::vector<size_t> ends;
  size_t j = spoken.size();
  for (size_t i = alone.size(); i > 0;) {
    const Step step = steps[i * width + j];
    if (step != Step::kMissing) --j;
    if (step == Step::kAdded) continue;
    --i;
    if (alone[i].kind == Kind::kWordEnd) ends.push_back(j);
  }
  std::reverse(ends.begin(), ends.end());
  return ends;
}

}  // namespace

std::vector<PhonemeWord> AlignWords(std::span<const WordAlone> words, std::string_view phonemes) {
  if (words.empty()) return {};
  std::vector<Symbol> alone;
  for (const WordAlone& word : words) {
    if (&word != &words.front()) alone.push_back({Kind::kWordEnd});
    const std::vector<Symbol> symbols = ToSymbols(word.phonemes);
    alone.insert(alone.end(), symbols.begin(), symbols.end());
  }
  const std::vector<Symbol> spoken = ToSymbols(phonemes);
  const auto byte = [&](size_t i) { return i < spoken.size() ? spoken[i].at : phonemes.size(); };
  std::vector<size_t> ends;
  if ((alone.size() + 1) * (spoken.size() + 1) <= kMaxCells) ends = FindWordEnds(alone, spoken);
  ends.resize(words.size(), spoken.size());

  std::vector<PhonemeWord> aligned;
  size_t unheard = words.front().begin;  // words from here on were not heard before the first
  size_t begin = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const auto is_sound = [&](size_t at) {
      return spoken[at].kind == Kind::kSound || spoken[at].kind == Kind::kStress;
    };
    size_t first = std::exchange(begin, ends[i]);
    size_t last = ends[i];
    while (first < last && !is_sound(first)) ++first;
    while (last > first && !is_sound(last - 1)) --last;
    if (first < last) {
      aligned.push_back(
          {aligned.empty() ? unheard : words[i].begin, words[i].end, byte(first), byte(last)});
    } else if (!aligned.empty()) {
      aligned.back().end = words[i].end;
    }
  }
  return aligned;
}

}  // namespace millrace::models
