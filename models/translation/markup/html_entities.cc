#include "models/translation/markup/html_entities.h"

#include <algorithm>
#include <array>

#include "models/text/ascii.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"

namespace millrace::translation {
namespace {

struct Named {
  std::string_view name;
  char32_t character;
};

// The entities of Latin 1 and 9, punctuation and common signs; sorted.
constexpr std::array<Named, 138> kNamed = {
    {{"AElig", 0xC6},    {"Aacute", 0xC1},  {"Acirc", 0xC2},    {"Agrave", 0xC0},
     {"Aring", 0xC5},    {"Atilde", 0xC3},  {"Auml", 0xC4},     {"Ccedil", 0xC7},
     {"Dagger", 0x2021}, {"ETH", 0xD0},     {"Eacute", 0xC9},   {"Ecirc", 0xCA},
     {"Egrave", 0xC8},   {"Euml", 0xCB},    {"Iacute", 0xCD},   {"Icirc", 0xCE},
     {"Igrave", 0xCC},   {"Iuml", 0xCF},    {"Ntilde", 0xD1},   {"OElig", 0x152},
     {"Oacute", 0xD3},   {"Ocirc", 0xD4},   {"Ograve", 0xD2},   {"Oslash", 0xD8},
     {"Otilde", 0xD5},   {"Ouml", 0xD6},    {"Prime", 0x2033},  {"Scaron", 0x160},
     {"THORN", 0xDE},    {"Uacute", 0xDA},  {"Ucirc", 0xDB},    {"Ugrave", 0xD9},
     {"Uuml", 0xDC},     {"Yacute", 0xDD},  {"Yuml", 0x178},    {"aacute", 0xE1},
     {"acirc", 0xE2},    {"acute", 0xB4},   {"aelig", 0xE6},    {"agrave", 0xE0},
     {"amp", 0x26},      {"apos", 0x27},    {"aring", 0xE5},    {"atilde", 0xE3},
     {"auml", 0xE4},     {"bdquo", 0x201E}, {"brvbar", 0xA6},   {"bull", 0x2022},
     {"ccedil", 0xE7},   {"cedil", 0xB8},   {"cent", 0xA2},     {"circ", 0x2C6},
     {"copy", 0xA9},     {"curren", 0xA4},  {"dagger", 0x2020}, {"darr", 0x2193},
     {"deg", 0xB0},      {"divide", 0xF7},  {"eacute", 0xE9},   {"ecirc", 0xEA},
     {"egrave", 0xE8},   {"eth", 0xF0},     {"euml", 0xEB},     {"euro", 0x20AC},
     {"fnof", 0x192},    {"frac12", 0xBD},  {"frac14", 0xBC},   {"frac34", 0xBE},
     {"frasl", 0x2044},  {"ge", 0x2265},    {"gt", 0x3E},       {"hellip", 0x2026},
     {"iacute", 0xED},   {"icirc", 0xEE},   {"iexcl", 0xA1},    {"igrave", 0xEC},
     {"infin", 0x221E},  {"iquest", 0xBF},  {"iuml", 0xEF},     {"laquo", 0xAB},
     {"larr", 0x2190},   {"ldquo", 0x201C}, {"le", 0x2264},     {"lsaquo", 0x2039},
     {"lsquo", 0x2018},  {"lt", 0x3C},      {"macr", 0xAF},     {"mdash", 0x2014},
     {"micro", 0xB5},    {"middot", 0xB7},  {"minus", 0x2212},  {"nbsp", 0xA0},
     {"ndash", 0x2013},  {"ne", 0x2260},    {"not", 0xAC},      {"ntilde", 0xF1},
     {"oacute", 0xF3},   {"ocirc", 0xF4},   {"oelig", 0x153},   {"ograve", 0xF2},
     {"oline", 0x203E},  {"ordf", 0xAA},    {"ordm", 0xBA},     {"oslash", 0xF8},
     {"otilde", 0xF5},   {"ouml", 0xF6},    {"para", 0xB6},     {"permil", 0x2030},
     {"plusmn", 0xB1},   {"pound", 0xA3},   {"prime", 0x2032},  {"quot", 0x22},
     {"raquo", 0xBB},    {"rarr", 0x2192},  {"rdquo", 0x201D},  {"reg", 0xAE},
     {"rsaquo", 0x203A}, {"rsquo", 0x2019}, {"sbquo", 0x201A},  {"scaron", 0x161},
     {"sect", 0xA7},     {"shy", 0xAD},     {"sup1", 0xB9},     {"sup2", 0xB2},
     {"sup3", 0xB3},     {"szlig", 0xDF},   {"thorn", 0xFE},    {"times", 0xD7},
     {"trade", 0x2122},  {"uacute", 0xFA},  {"uarr", 0x2191},   {"ucirc", 0xFB},
     {"ugrave", 0xF9},   {"uml", 0xA8},     {"uuml", 0xFC},     {"yacute", 0xFD},
     {"yen", 0xA5},      {"yuml", 0xFF}}};
static_assert(std::ranges::is_sorted(kNamed, {}, &Named::name));
constexpr size_t kLongestEntity = 32;

char32_t Numbered(std::string_view digits) {
  const bool hex = models::AsciiLower(models::ByteAt(digits, 0)) == 'x';
  if (hex) digits.remove_prefix(1);
  if (digits.empty() || digits.size() > 8) return 0;
  char32_t value = 0;
  for (const char c : digits) {
    const char lower = models::AsciiLower(c);
    if (models::IsAsciiDigit(c)) {
      value = value * (hex ? 16 : 10) + static_cast<char32_t>(c - '0');
    } else if (hex && lower >= 'a' && lower <= 'f') {
      value = value * 16 + static_cast<char32_t>(lower - 'a' + 10);
    } else {
      return 0;
    }
  }
  const bool surrogate = value >= 0xD800 && value < 0xE000;
  return value > 0x10FFFF || surrogate ? 0 : value;
}

// Returns 0 for unknown names.
char32_t CharacterNamed(std::string_view name) {
  const auto found = std::ranges::lower_bound(kNamed, name, {}, &Named::name);
  return found != kNamed.end() && found->name == name ? found->character : 0;
}

// HTML's oldest names, those of Latin 1, need no semicolon: &amp&copy
size_t ReadOpenEntity(std::string_view text, std::string& character) {
  constexpr size_t kLongestName = 6;
  if (models::ByteAt(text, 0) != '&') return 0;
  size_t end = 1;
  while (end <= kLongestName && models::IsAsciiAlnum(models::ByteAt(text, end))) ++end;
  for (; end > 1; --end) {
    const char32_t value = CharacterNamed(text.substr(1, end - 1));
    if (value == 0 || value > 0xFF || value == '\'') continue;
    character = models::EncodeUtf8(value);
    return end;
  }
  return 0;
}

}  // namespace

size_t EntityBytes(std::string_view text) {
  if (models::ByteAt(text, 0) != '&') return 0;
  size_t at = models::ByteAt(text, 1) == '#' ? 2 : 1;
  const size_t begin = at;
  while (at < kLongestEntity && models::IsAsciiAlnum(models::ByteAt(text, at))) ++at;
  return at > begin && models::ByteAt(text, at) == ';' ? at + 1 : 0;
}

size_t EscapedTagBytes(std::string_view text) {
  constexpr std::string_view kOpens = "&lt;";
  constexpr std::string_view kCloses = "&gt;";
  constexpr size_t kLongest = 256;
  if (!text.starts_with(kOpens)) return 0;
  text = text.substr(0, kLongest);
  const size_t close = text.find(kCloses);
  if (close == std::string_view::npos) return 0;
  std::string_view inner = text.substr(kOpens.size(), close - kOpens.size());
  const size_t bytes = close + kCloses.size();
  if (inner.starts_with('/')) inner.remove_prefix(1);
  if (!models::IsAsciiLetter(models::ByteAt(inner, 0)) ||
      inner.find_first_of("<>\n") != std::string_view::npos ||
      inner.find(kOpens) != std::string_view::npos) {
    return 0;
  }
  const size_t space = inner.find_first_of(models::kAsciiSpace);
  const bool attributes = inner.find('=') != std::string_view::npos || inner.ends_with('/');
  return space == std::string_view::npos || attributes ? bytes : 0;
}

size_t ReadEntity(std::string_view text, std::string& character) {
  const size_t bytes = EntityBytes(text);
  if (bytes == 0) return ReadOpenEntity(text, character);
  const std::string_view name = text.substr(1, bytes - 2);
  const char32_t value = name.front() == '#' ? Numbered(name.substr(1)) : CharacterNamed(name);
  // White space other than a space, and numbers without a Unicode character, stay as they are
  // written.
  if (value <= 0x20 && value != ' ') return 0;
  character = models::EncodeUtf8(value);
  return bytes;
}

bool IsOfWords(std::string_view character, std::string_view text, size_t begin, size_t end) {
  const char32_t c = models::DecodeAt(character, 0).value;
  if (models::IsSpace(c) || models::IsLetter(c)) return true;
  return (c == U'\'' || c == U'’') && begin > 0 &&
         models::IsLetter(models::DecodeBefore(text, begin).value) &&
         models::IsLetter(models::DecodeAt(text, end).value);
}

}  // namespace millrace::translation
