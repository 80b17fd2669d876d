#include "models/text/unicode.h"

#include <algorithm>

namespace millrace::models {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

bool Between(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

}  // namespace

bool IsContinuationByte(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

CodePoint DecodeAt(std::string_view text, size_t at) {
  if (at >= text.size()) return {};
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || bytes > text.size() - at) return {kReplacement, 1};
  char32_t value = lead & (0x7F >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if (!IsContinuationByte(text[at + i])) return {kReplacement, 1};
    value = (value << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3F);
  }
  return {value, bytes};
}

CodePoint DecodeBefore(std::string_view text, size_t at) {
  size_t start = at - 1;
  while (start > 0 && at - start < 4 && IsContinuationByte(text[start])) --start;
  const CodePoint whole = DecodeAt(text, start);
  if (start + whole.bytes == at) return whole;
  return {kReplacement, 1};
}

std::string EncodeUtf8(char32_t c) {
  const auto tail = [c](int shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xC0 | (c >> 6)), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xE0 | (c >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | (c >> 18)), tail(12), tail(6), tail(0)};
}

size_t CountCodePoints(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuationByte(c); }));
}

bool IsLineBreak(char32_t c) {
  return Between(c, 0x0A, 0x0D) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool IsSpace(char32_t c) {
  return c == ' ' || c == '\t' || IsLineBreak(c) || c == 0xA0 || c == 0x1680 ||
         Between(c, 0x2000, 0x200A) || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool IsWidePause(char32_t c) { return c == U'、' || c == U'，' || c == U'；' || c == U'：'; }

bool IsDigit(char32_t c) { return Between(c, '0', '9'); }

bool IsLower(char32_t c) {
  if (c < 0x80) return Between(c, 'a', 'z');
  if (c < 0x100) return Between(c, 0xDF, 0xFF) && c != 0xF7;
  // Latin Extended-A pairs its letters: even is upper but in two stretches.
  if (c < 0x180) {
    const bool odd_is_upper = Between(c, 0x139, 0x148) || Between(c, 0x179, 0x17E);
    return (c % 2 == 1) != odd_is_upper;
  }
  return Between(c, 0x3AC, 0x3CE) || Between(c, 0x430, 0x45F);
}

bool IsUpper(char32_t c) {
  if (c < 0x80) return Between(c, 'A', 'Z');
  if (c < 0x100) return Between(c, 0xC0, 0xDE) && c != 0xD7;
  if (c < 0x180) return !IsLower(c);
  return Between(c, 0x386, 0x3AB) || Between(c, 0x400, 0x42F);
}

char32_t ToLower(char32_t c) {
  if (!IsUpper(c)) return c;
  if (c < 0x100 || Between(c, 0x391, 0x3AB) || Between(c, 0x410, 0x42F)) return c + 0x20;
  if (c == 0x178) return 0xFF;
  if (c < 0x180) return c + 1;
  if (c >= 0x400) return c + 0x50;
  switch (c) {  // the accented Greek ones
    case 0x386:
      return 0x3AC;
    case 0x38C:
      return 0x3CC;
    case 0x38E:
    case 0x38F:
      return c + 0x3F;
    default:
      return Between(c, 0x388, 0x38A) ? c + 0x25 : c;
  }
}

char32_t ToUpper(char32_t c) {
  if (!IsLower(c)) return c;
  switch (c) {
    case U'ß':
    case U'ı':
    case U'ŉ':
    case U'ſ':
    case U'ΰ':
      return c;
    case U'ÿ':
      return U'Ÿ';
    case U'ς':
      return U'Σ';
    case U'ά':
      return U'Ά';
    case U'ό':
      return U'Ό';
    case U'ύ':
    case U'ώ':
      return c - 0x3F;
    default:
      break;
  }
  if (c < 0x100 || Between(c, 0x3B1, 0x3CB) || Between(c, 0x430, 0x44F)) return c - 0x20;
  if (c < 0x180) return c - 1;
  return c >= 0x450 ? c - 0x50 : c - 0x25;
}

bool IsWordCharacter(char32_t c) {
  if (c < 0x80) return IsDigit(c) || Between(c, 'a', 'z') || Between(c, 'A', 'Z');
  if (c < 0xC0) return c == 0xAA || c == 0xB5 || c == 0xBA;
  // From U+2000 on are punctuation and symbols, then scripts without spaces, but for Hangul.
  if (c >= 0x2000) return Between(c, 0xAC00, 0xD7A3);
  switch (c) {
    case U'×':
    case U'÷':
    case U';':
    case U'·':
    case U'։':
    case U'،':
    case U'؛':
    case U'؟':
    case U'۔':
    case U'।':
    case U'॥':
      return false;
    default:
      return true;
  }
}

}  // namespace millrace::models
