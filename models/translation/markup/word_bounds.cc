#include "models/translation/markup/word_bounds.h"

#include "models/text/ascii.h"
#include "models/translation/markup/character_category.h"

namespace millrace::translation {
namespace {

// Returns true for characters that join the digits of a number when another digit follows.
bool JoinsDigits(char32_t c) {
  return c == '.' || c == ',' || c == '\'' || c == 0x2019 || c == 0xA0 || c == 0x2009 ||
         c == 0x202F;
}

}  // namespace

bool WordBounds::IsOfWord(char32_t c) const {
  if (c < 0x80) return models::IsAsciiAlnum(static_cast<char>(c));
  const utf8proc_category_t category = CategoryOf(c);
  if (IsMark(category) || category == UTF8PROC_CATEGORY_CF) return true;
  if (!IsLetter(category) && !IsNumber(category)) return false;
  return models::IsWordCharacter(c) || alphabet_(c) != CharacterFit::kKnown;
}

size_t WordBounds::WordBegin(size_t at, size_t limit) const {
  while (at > limit) {
    const models::CodePoint c = models::DecodeBefore(text_, at);
    if (!IsOfWord(c.value)) break;
    at -= c.bytes;
  }
  return at;
}

size_t WordBounds::WordEnd(size_t at) const {
  for (models::CodePoint c = At(at); c.bytes > 0 && IsOfWord(c.value); c = At(at)) at += c.bytes;
  return at;
}

size_t WordBounds::NumberBegin(size_t at, size_t limit) const {
  while (at > limit) {
    models::CodePoint c = models::DecodeBefore(text_, at);
    if (models::IsDigit(c.value)) {
      at -= c.bytes;
      continue;
    }
    const size_t joined = at - c.bytes;
    if (!models::IsDigit(At(at).value) || !JoinsDigits(c.value) || joined <= limit ||
        !models::IsDigit(models::DecodeBefore(text_, joined).value)) {
      break;
    }
    at = joined;
  }
  return at;
}

size_t WordBounds::NumberEnd(size_t at) const {
  while (true) {
    at = WordEnd(at);
    const models::CodePoint c = At(at);
    if (!JoinsDigits(c.value) || !models::IsDigit(At(at + c.bytes).value)) return at;
    at += c.bytes;
  }
}

}  // namespace millrace::translation
