#include "models/text/phoneme_words.h"

#include <utf8proc.h>

#include "models/text/unicode.h"

namespace millrace::models {

bool IsSound(char32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
}

std::vector<PhonemeWord> SplitPhonemeWords(std::string_view phonemes) {
  std::vector<PhonemeWord> words;
  bool divided = true;
  for (size_t at = 0; at < phonemes.size();) {
    const CodePoint c = DecodeAt(phonemes, at);
    const size_t end = at + c.bytes;
    if (IsSpace(c.value)) {
      divided = true;
    } else if (IsSound(c.value)) {
      if (divided) words.push_back({at, end, at, end});
      words.back().end = words.back().phonemes_end = end;
      divided = false;
    }
    at = end;
  }
  return words;
}

}  // namespace millrace::models
