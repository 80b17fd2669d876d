#include "models/text/written_words.h"

#include <utf8proc.h>

#include "models/text/unicode.h"

namespace millrace::models {
namespace {

bool IsQuoteOrBracket(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
      return true;
    default:
      return c == '"' || c == '\'';
  }
}

bool OpensWord(char32_t c) { return IsQuoteOrBracket(c) || c == U'¿' || c == U'¡'; }

bool ClosesWord(char32_t c) {
  constexpr std::u32string_view kMarks = U".,;:!?…‽।॥。、！？，：；";
  return IsQuoteOrBracket(c) || kMarks.find(c) != std::u32string_view::npos ||
         utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_PD;
}

}  // namespace

std::vector<WrittenWord> SplitWrittenWords(std::string_view text) {
  std::vector<WrittenWord> words;
  for (size_t at = 0; at < text.size();) {
    const CodePoint first = DecodeAt(text, at);
    if (IsSpace(first.value) || OpensWord(first.value)) {
      at += first.bytes;
      continue;
    }
    size_t end = at;  // the end of the word, without what closes it
    size_t next = at;
    for (CodePoint c = first; c.bytes > 0 && !IsSpace(c.value); c = DecodeAt(text, next)) {
      next += c.bytes;
      if (!ClosesWord(c.value)) end = next;
    }
    if (end > at) words.push_back({at, end});
    at = next;
  }
  return words;
}

}  // namespace millrace::models
