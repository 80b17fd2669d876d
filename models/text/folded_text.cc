#include "models/text/folded_text.h"

#include <string_view>

#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr char32_t kInvisible = 0xFFFFFFFF;

// Letters that are written below the line, from U+2090 on.
constexpr std::u32string_view kSmallLetters = U"aeoxəhklmnpst";

// Returns what stands before the plain form of a letter below or above the line, so that it is no
// part of the word before.
std::string_view Joint(char32_t c) {
  if (c == 0x207F) return "^";
  return (c >= 0x2090 && c <= 0x209C) || c == 0x1D62 || c == 0x2C7C ? " " : "";
}

// Returns the plain form of a character, itself if it is plain, or kInvisible.
char32_t Folded(char32_t c) {
  if (c < 0xAD) return c;
  if (c >= 0xFF01 && c <= 0xFF5E) return c - 0xFF01 + '!';
  if (c >= 0x2080 && c <= 0x2089) return c - 0x2080 + '0';
  if (c >= 0x2090 && c <= 0x209C) return kSmallLetters[c - 0x2090];
  switch (c) {
    case 0x1D62:
      return 'i';
    case 0x207F:
      return 'n';
    case 0x2C7C:
      return 'j';
    case 0x3000:  // ideographic space
      return ' ';
    case 0x2032:  // primes, for feet and inches
      return '\'';
    case 0x2033:
      return '"';
    case 0x3BC:  // mu, for the micro sign
      return 0xB5;
    case 0x2126:  // the ohm sign
      return 0x3A9;
    case 0x2206:  // the increment sign, for delta
      return 0x394;
    case 0x212A:  // the kelvin sign
      return 'K';
    case 0x2011:  // a hyphen that does not break
      return '-';
    case 0x2044:  // the slash of a fraction
      return '/';
    case 0x208A:
      return '+';
    case 0x208B:
      return '-';
    case 0xAD:    // soft hyphen
    case 0x200B:  // zero width
    case 0x200C:
    case 0x200D:  // joins emoji
    case 0x2060:
    case 0xFE0E:  // how an emoji is drawn
    case 0xFE0F:
    case 0xFEFF:
      return kInvisible;
    default:
      return c;
  }
}

}  // namespace

std::optional<FoldedText> FoldText(std::string_view source) {
  bool plain = true;
  for (size_t at = 0; at < source.size() && plain;) {
    if (static_cast<unsigned char>(source[at]) < 0x80) {
      ++at;
      continue;
    }
    const CodePoint c = DecodeAt(source, at);
    plain = Folded(c.value) == c.value;
    at += c.bytes;
  }
  if (plain) return std::nullopt;
  FoldedText folded;
  for (size_t at = 0; at < source.size();) {
    const CodePoint c = DecodeAt(source, at);
    const char32_t to = Folded(c.value);
    if (to == c.value) {
      folded.text += source.substr(at, c.bytes);
    } else if (to != kInvisible) {
      folded.text += Joint(c.value);
      folded.text += EncodeUtf8(to);
    }
    folded.origins.resize(folded.text.size(), at);
    at += c.bytes;
  }
  folded.origins.push_back(source.size());
  return folded;
}

}  // namespace millrace::models
