#include "models/text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>

#include "models/core/utf8.h"

namespace millrace::models {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

bool Between(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

utf8proc_category_t CategoryOf(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

}  // namespace

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    if (static_cast<signed char>(text.front()) >= 0) {
      text.remove_prefix(1);
      continue;
    }
    utf8proc_int32_t value = 0;
    const utf8proc_ssize_t bytes =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                         static_cast<utf8proc_ssize_t>(text.size()), &value);
    if (bytes <= 0) return false;
    text.remove_prefix(static_cast<size_t>(bytes));
  }
  return true;
}

CodePoint DecodeAt(std::string_view text, size_t at) {
  if (at >= text.size()) return {};
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return {lead, 1};
  utf8proc_int32_t value = 0;
  const utf8proc_ssize_t bytes =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                       static_cast<utf8proc_ssize_t>(text.size() - at), &value);
  if (bytes <= 0) return {kReplacement, 1};
  return {static_cast<char32_t>(value), static_cast<size_t>(bytes)};
}

CodePoint DecodeBefore(std::string_view text, size_t at) {
  if (at == 0) return {};
  size_t start = at - 1;
  if (static_cast<signed char>(text[start]) >= 0)
    return {static_cast<unsigned char>(text[start]), 1};
  while (start > 0 && at - start < 4 && IsContinuationByte(text[start])) --start;
  const CodePoint whole = DecodeAt(text, start);
  if (start + whole.bytes == at) return whole;
  return {kReplacement, 1};
}

std::u32string DecodeUtf8(std::string_view text) {
  std::u32string decoded;
  while (!text.empty()) {
    const CodePoint point = DecodeAt(text, 0);
    decoded += point.value;
    text.remove_prefix(point.bytes);
  }
  return decoded;
}

std::string EncodeUtf8(char32_t c) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes);
  return {reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)};
}

std::string Decompose(const std::string& text) {
  utf8proc_uint8_t* result = utf8proc_NFD(reinterpret_cast<const utf8proc_uint8_t*>(text.c_str()));
  if (result == nullptr) return "";
  std::string decomposed(reinterpret_cast<const char*>(result));
  std::free(result);
  return decomposed;
}

size_t CountCodePoints(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuationByte(c); }));
}

bool IsLineBreak(char32_t c) {
  return Between(c, 0x0A, 0x0D) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool IsSpace(char32_t c) {
  if (c == ' ' || c == '\t' || IsLineBreak(c)) return true;
  return c >= 0x80 && CategoryOf(c) == UTF8PROC_CATEGORY_ZS;
}

bool IsWidePause(char32_t c) { return c == U'、' || c == U'，' || c == U'；' || c == U'：'; }

bool IsDigit(char32_t c) { return Between(c, '0', '9'); }

bool IsLower(char32_t c) {
  return c < 0x80 ? Between(c, 'a', 'z') : CategoryOf(c) == UTF8PROC_CATEGORY_LL;
}

bool IsUpper(char32_t c) {
  return c < 0x80 ? Between(c, 'A', 'Z') : CategoryOf(c) == UTF8PROC_CATEGORY_LU;
}

char32_t ToLower(char32_t c) {
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

char32_t ToUpper(char32_t c) {
  if (c == U'ß') return c;  // its capital is two letters in common use
  return static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c)));
}

bool IsLetter(char32_t c) {
  if (c < 0x80) return Between(c, 'a', 'z') || Between(c, 'A', 'Z');
  switch (CategoryOf(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
      return true;
    default:
      return false;
  }
}

bool IsWordCharacter(char32_t c) {
  // From U+2000 on there are punctuation, symbols and scripts without spaces, except Hangul.
  if (c >= 0x2000) return Between(c, 0xAC00, 0xD7A3);
  if (IsDigit(c) || IsLetter(c)) return true;
  const utf8proc_category_t category = CategoryOf(c);
  return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL;
}

}  // namespace millrace::models
