#include "models/text/english/letter_a.h"

#include "models/text/ascii.h"
#include "models/text/english/one_of.h"
#include "models/text/english/word_kinds.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Returns true for words before which there is no article.
bool FollowsNoArticle(std::string_view word) {
  return IsOneOf(word, "and", "is", "or", "plus", "to", "was", "versus");
}

}  // namespace

void MarkLetterA(std::string_view text, std::vector<SpokenWord>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    SpokenWord& word = words[i];
    if (word.text != "A" && word.text != "a") continue;
    // Codes: "A4 paper", "R-134a", "a1b2".
    if ((word.end < text.size() && IsAsciiDigit(text[word.end])) ||
        (word.begin > 0 && word.begin < text.size() && IsAsciiDigit(text[word.begin - 1]))) {
      word.text = "A.";
      continue;
    }
    // "a[0]", "a) the first".
    const char behind = word.end < text.size() ? text[word.end] : '\0';
    if (behind == '[' || behind == '_' || behind == ']' || behind == ')') word.text = "A.";
    if (word.after != " " || i + 1 == words.size()) continue;
    const SpokenWord& next = words[i + 1];
    const size_t at = next.begin;
    const char32_t first = at < text.size() ? DecodeAt(text, at).value : U'a';
    // "a/b", "a.txt"
    const bool divided = word.end < text.size() && text[word.end] == '/' && next.text.size() == 1;
    // "A +2 sword", "a -5 V supply".
    const bool signed_number = (first == '+' || first == '-' || first == 0x2212) &&
                               IsAsciiDigit(ByteAt(text, at + DecodeAt(text, at).bytes));
    const bool sign = !signed_number && !IsLetter(first) && !IsDigit(first) &&
                      IsOfKind(next.text, "operator") &&
                      (first != '.' || at == word.end);  // "a .pdf file"
    if (sign || divided || (word.text == "A" && FollowsNoArticle(next.text))) word.text = "A.";
  }
}

}  // namespace millrace::models
