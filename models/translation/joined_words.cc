#include "models/translation/joined_words.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/core/strings.h"
#include "models/text/unicode.h"

namespace millrace::translation {
namespace {

constexpr size_t kFewestLetters = 3;  // Each of the two words has as many.
constexpr size_t kLongestWord = 48;   // bytes

bool HasCase(char32_t c) { return models::IsLower(c) || models::IsUpper(c); }

// Returns the letters of scripts with capitals that end at `at`, and those that begin there.
std::string_view WordBefore(std::string_view text, size_t at) {
  size_t begin = at;
  while (begin > 0 && at - begin < kLongestWord && HasCase(models::DecodeBefore(text, begin).value))
    begin -= models::DecodeBefore(text, begin).bytes;
  return text.substr(begin, at - begin);
}
std::string_view WordBehind(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && end - at < kLongestWord && HasCase(models::DecodeAt(text, end).value))
    end += models::DecodeAt(text, end).bytes;
  return text.substr(at, end - at);
}

// Returns true for what is the ending of a word rather than a word, although it may be one as well.
bool IsEnding(std::string_view word) {
  constexpr std::string_view kEndings =
      " able ado ada amente ando ção dade endo este ful ible ido ing ington ismo ista less like "
      "ling ment mente ness ship some tion ward wise zinho zinha ";
  return kEndings.find(StrCat(" ", word, " ")) != std::string_view::npos;
}

// Returns true if the vocabulary knows two words better than the one that they are together.
bool AreTwoWords(const Vocabulary& vocabulary, std::string_view first, std::string_view second) {
  constexpr size_t kMostTokens = 64;
  const auto encode = [&](std::string_view text) {
    return vocabulary.Encode(text, kMostTokens).tokens;
  };
  const std::vector<int32_t> joined = encode(StrCat(first, second));
  const std::vector<int32_t> alone = encode(first);
  if (joined.size() > encode(StrCat(first, " ", second)).size()) return true;
  return joined.size() > alone.size() &&
         std::ranges::equal(alone, std::span(joined).first(alone.size())) && !IsEnding(second);
}

}  // namespace

bool DivideJoinedWords(const Vocabulary& vocabulary, MarkedText& marked) {
  std::vector<MarkEvent>& events = marked.events;
  bool changed = false;
  for (size_t i = 0; i < events.size(); ++i) {
    const size_t at = events[i].at;
    if (i > 0 && events[i - 1].at == at) continue;
    // A key of a menu's entry may be any letter of a word.
    if (events[i].markup == "&" || events[i].markup == "_") continue;
    const std::string_view first = WordBefore(marked.text, at);
    const std::string_view second = WordBehind(marked.text, at);
    if (models::CountCodePoints(first) < kFewestLetters ||
        models::CountCodePoints(second) < kFewestLetters || !AreTwoWords(vocabulary, first, second))
      continue;
    marked.text.insert(at, 1, ' ');
    // A mark that closes there stays with the first word.
    for (size_t later = i; later < events.size(); ++later) {
      if (events[later].at > at || events[later].kind != MarkEvent::Kind::kClose)
        ++events[later].at;
    }
    const auto move = [at](auto& spans) {
      for (auto& span : spans) {
        if (span.begin < at) continue;
        ++span.begin;
        ++span.end;
      }
    };
    move(marked.kept);
    move(marked.spellings);
    changed = true;
  }
  return changed;
}

}  // namespace millrace::translation
