#include "models/translation/markup/endless_words.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "models/text/unicode.h"
#include "models/text/unspaced_script.h"

namespace millrace::translation {
namespace {

// Text without white space that is longer than any word, of a script that puts spaces between
// words.
struct EndlessWord {
  size_t begin = 0;
  size_t end = 0;
};

std::vector<EndlessWord> FindEndlessWords(std::string_view text) {
  constexpr size_t kLongestWord = 512;  // bytes
  const auto is_spaced = [](char32_t c) { return c < 0xE00 || (c >= 0x2000 && c < 0x3000); };
  std::vector<EndlessWord> found;
  size_t begin = 0;
  for (size_t at = 0; at <= text.size();) {
    const models::CodePoint c = models::DecodeAt(text, at);
    if (c.bytes > 0 && !models::IsSpace(c.value) && is_spaced(c.value)) {
      at += c.bytes;
      continue;
    }
    if (at - begin > kLongestWord) found.push_back({begin, at});
    begin = at += std::max<size_t>(c.bytes, 1);
  }
  return found;
}

// Appends the words that have a letter many times in a row: Noooo, zzzz.
void FindDrawnOutWords(std::string_view text, std::vector<EndlessWord>& found) {
  constexpr size_t kMany = 4;
  size_t begin = 0;
  size_t run = 0;
  bool is_drawn_out = false;
  char32_t before = 0;
  for (size_t at = 0; at <= text.size();) {
    const models::CodePoint c = models::DecodeAt(text, at);
    const char32_t letter = models::IsLetter(c.value) ? models::ToLower(c.value) : 0;
    if (c.bytes > 0 && letter != 0 && !models::IsUnspaced(c.value)) {
      run = letter == before ? run + 1 : 1;
      is_drawn_out = is_drawn_out || run >= kMany;
      before = letter;
      at += c.bytes;
      continue;
    }
    if (is_drawn_out) found.push_back({begin, at});
    is_drawn_out = false;
    before = 0;
    begin = at += std::max<size_t>(c.bytes, 1);
  }
}

}  // namespace

void KeepEndlessWords(MarkedText& marked) {
  std::vector<KeptSpan> all;
  auto own = marked.kept.begin();
  auto event = marked.events.begin();
  std::vector<EndlessWord> words = FindEndlessWords(marked.text);
  FindDrawnOutWords(marked.text, words);
  std::ranges::stable_sort(words, {}, &EndlessWord::begin);
  size_t free = 0;
  for (EndlessWord& word : words) {
    word.begin = std::max(word.begin, free);
    if (word.begin >= word.end) continue;
    free = word.end;
    // A span of the reader's may hold several.
    size_t at = std::max(word.begin, all.empty() ? 0 : all.back().end);
    for (; own != marked.kept.end() && own->begin < word.begin; ++own) {
      at = std::max(at, own->end);
      all.push_back(std::move(*own));
    }
    while (at < word.end) {
      while (event != marked.events.end() && event->at <= at) ++event;
      size_t end = word.end;
      if (event != marked.events.end()) end = std::min(end, event->at);
      if (own != marked.kept.end()) end = std::min(end, own->begin);
      if (end > at) all.push_back({at, end, Written(marked, at, end)});
      at = end;
      for (; own != marked.kept.end() && own->begin == at; ++own) {
        at = own->end;
        all.push_back(std::move(*own));
      }
    }
  }
  std::move(own, marked.kept.end(), std::back_inserter(all));
  marked.kept = std::move(all);
}

}  // namespace millrace::translation
