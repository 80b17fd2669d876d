#include "models/translation/word_list.h"

#include <algorithm>
#include <string>
#include <vector>

#include "models/core/strings.h"
#include "models/text/ascii.h"
#include "models/text/unicode.h"
#include "models/text/unspaced_script.h"

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
  // Words of grammar with three letters or more of the languages that most interfaces are in.
  // Shorter ones in small letters are such in any of them.
  constexpr std::string_view kGrammar =
      " about all and any are but can com como das del des die dos der das ein eine est for from "
      "had has have her his how les los las its mais mas não nos not para pas por pour que sem ser "
      "seu she sie sua that the their them then they this una uma und une was were what when where "
      "which who will with you your muy más foi são está het een van der ";
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
    if (small && kGrammar.find(StrCat(" ", word, " ")) != std::string_view::npos) return false;
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
