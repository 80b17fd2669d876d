#include "models/translation/word_list.h"

#include <algorithm>
#include <string>
#include <vector>

#include "models/text/ascii.h"
#include "models/text/unicode.h"
#include "models/text/unspaced_script.h"
#include "models/translation/markup/word_lists.h"

namespace millrace::translation {
namespace {

// Returns how many words come again, but for letters of the other case.
size_t CountRepeated(std::string_view text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(models::AsciiLower(text.substr(at, end - at)));
    at = end + 1;
  }
  std::ranges::sort(words);
  return static_cast<size_t>(words.end() - std::unique(words.begin(), words.end()));
}

}  // namespace

bool IsWordList(std::string_view text, size_t fewest) {
  constexpr size_t kFewestLetters = 3;
  size_t words = 0;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    size_t letters = 0;
    bool small = true;
    while (end < text.size() && text[end] != ' ') {
      const models::CodePoint c = models::DecodeAt(text, end);
      if (models::IsUnspaced(c.value) || (!models::IsLetter(c.value) && c.value != '-'))
        return false;
      small = small && !models::IsUpper(c.value);
      ++letters;
      end += c.bytes;
    }
    if (letters == 0 || (small && letters < kFewestLetters)) return false;
    const std::string word = models::AsciiLower(text.substr(at, end - at));
    if (small && IsListed("grammar", word)) return false;
    ++words;
    at = end + 1;
  }
  return words >= fewest;
}

bool LacksListedWords(std::string_view source, std::string_view target) {
  return models::CountWords(target) < models::CountWords(source) ||
         CountRepeated(target) > CountRepeated(source);
}

}  // namespace millrace::translation
