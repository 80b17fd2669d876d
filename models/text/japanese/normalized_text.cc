#include "models/text/japanese/normalized_text.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "models/core/errors.h"
#include "models/text/ascii.h"
#include "models/text/sign_names.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

bool IsVoicingMark(char32_t c) { return c == 0x3099 || c == 0x309A || c == 0xFF9E || c == 0xFF9F; }

bool IsCombining(char32_t c) {
  return IsVoicingMark(c) || IsBetween(c, 0x300, 0x36F) || IsBetween(c, 0xFE00, 0xFE0F);
}

// Returns true for a character that form NFKC keeps, as most of a Japanese text is.
bool IsNormal(char32_t c) {
  return IsBetween(c, '!', '~') || IsBetween(c, 0x3041, 0x3096) || IsBetween(c, 0x30A1, 0x30FC) ||
         IsBetween(c, 0x4E00, 0x9FFF) || IsBetween(c, 0x3001, 0x3002) || c == U'…' || c == U'‥';
}

// Appends the form NFKC of a character and the marks behind it.
void AppendNormalized(std::string_view piece, size_t begin, size_t end, PlacedText& placed) {
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(piece.data()),
      static_cast<utf8proc_ssize_t>(piece.size()), &mapped,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(mapped, &std::free);
  if (size < 0) return;
  const std::string_view text(reinterpret_cast<const char*>(mapped), static_cast<size_t>(size));
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = DecodeAt(text, at);
    at += point.bytes;
    char32_t c = point.value;
    if (IsLetter(c) && !IsAnyKana(c) && !IsKanjiCharacter(c) && c >= 0xC0) {
      // A Latin letter with an accent is read as the plain letter.
      const std::string plain = Decompose(EncodeUtf8(c));
      if (!plain.empty() && IsLatinLetter(static_cast<unsigned char>(plain[0])))
        c = static_cast<unsigned char>(plain[0]);
    }
    if (IsCombining(c)) continue;
    placed.Add(c, begin, end);
  }
}

// Returns katakana for the small katakana of Ainu, and c for others.
char32_t WithoutAinu(char32_t c) {
  constexpr std::u32string_view kFullKatakana = U"クシストヌハヒフヘホムラリルレロ";
  return IsBetween(c, 0x31F0, 0x31FF) ? kFullKatakana[c - 0x31F0] : c;
}

// Returns the value of the Roman numeral, Ⅰ to Ⅻ and ⅰ to ⅻ; 0 if it is none.
size_t RomanValue(char32_t c) {
  if (IsBetween(c, 0x2160, 0x216B)) return c - 0x2160 + 1;
  return IsBetween(c, 0x2170, 0x217B) ? c - 0x2170 + 1 : 0;
}

// Signs that stand for what is left out where two of them stand together: 〇〇さん.
constexpr SignName<std::u32string_view> kPlaceholders[] = {
    {U"〇○◯", U"マル"}, {U"×✕", U"バツ"}, {U"△", U"サンカク"}, {U"□", U"シカク"}};

// Returns true for a digit of a number in kanji, in which 〇 is a zero: 二〇〇〇年.
bool IsKanjiDigit(char32_t c) { return IsAmong(U"一二三四五六七八九〇", c); }

// Returns true for a variable before a power, but not for the unit of m².
bool IsVariable(std::u32string_view text) {
  return !text.empty() && IsLatinLetter(text.back()) && text.back() != 'm' &&
         (text.size() == 1 || !IsLatinLetter(text[text.size() - 2]));
}

// Returns the end of the "w" that stand for a laugh at `at`, すごいwww, before no other letter and
// no digit; `at` if there are none.
size_t LaughEnd(std::string_view source, size_t at) {
  size_t end = at;
  CodePoint c = DecodeAt(source, end);
  for (; c.value == 'w' || c.value == U'ｗ'; c = DecodeAt(source, end)) end += c.bytes;
  return c.value < 0x80 && IsAsciiAlnum(static_cast<char>(c.value)) ? at : end;
}

bool IsPause(char32_t c) { return IsAmong(U" 、。,.!?:…", c); }

}  // namespace

bool IsKanjiCharacter(char32_t c) {
  return IsBetween(c, 0x3400, 0x4DBF) || IsBetween(c, 0x4E00, 0x9FFF) ||
         IsBetween(c, 0xF900, 0xFAFF) || IsBetween(c, 0x20000, 0x3FFFF) || c == U'々' ||
         c == U'〆' || c == U'〇';
}

bool IsAnyKana(char32_t c) {
  return IsBetween(c, 0x3041, 0x309F) || IsBetween(c, 0x30A0, 0x30FF) ||
         IsBetween(c, 0x31F0, 0x31FF) || IsBetween(c, 0xFF66, 0xFF9F);
}

absl::StatusOr<PlacedText> NormalizeJapanese(std::string_view source) {
  PlacedText placed;
  for (size_t at = 0; at < source.size();) {
    const CodePoint point = DecodeAt(source, at);
    MILLRACE_RETURN_IF_ERROR(CheckCharacter(source, at, point, kJapanese));
    const size_t begin = at;
    at += point.bytes;
    const char32_t c = WithoutAinu(point.value);
    if (IsSpace(c) || c < 0x20 || c == 0x7F || c == 0x3000) {
      if (placed.text.empty() || placed.text.back() != ' ') placed.Add(' ', begin, at);
      continue;
    }
    const std::u32string_view name = NameOfSign(kPlaceholders, c);
    const bool zero = c == U'〇' && !placed.text.empty() && IsKanjiDigit(placed.text.back());
    if (!name.empty() && !zero &&
        (DecodeAt(source, at).value == c ||
         (begin > 0 && DecodeBefore(source, begin).value == c))) {
      for (const char32_t kana : name) placed.Add(kana, begin, at);
      continue;
    }
    if (const size_t laugh = LaughEnd(source, begin);
        laugh > begin && !placed.text.empty() && !IsBetween(placed.text.back(), '!', '~')) {
      placed.Add(' ', begin, laugh);
      at = laugh;
      continue;
    }
    if ((c == U'²' || c == U'³') && IsVariable(placed.text)) {
      for (const char32_t power : {U'の', c == U'²' ? U'2' : U'3', U'乗'})
        placed.Add(power, begin, at);
      continue;
    }
    size_t end = at;
    while (end < source.size() && end - begin < 32 && IsCombining(DecodeAt(source, end).value))
      end += DecodeAt(source, end).bytes;
    // ②次に: the label of an item, which counts nothing.
    const bool label =
        IsBetween(c, U'①', U'⓿') &&
        (placed.text.empty() || IsPause(placed.text.back()) ||
         (IsAnyKana(placed.text.back()) && IsKanjiCharacter(DecodeAt(source, at).value)));
    if (const size_t value = RomanValue(c); value > 0) {
      for (const char digit : std::to_string(value)) placed.Add(digit, begin, end);
    } else if (end == at && (IsNormal(c) || c != point.value)) {
      placed.Add(c == U'‥' ? U'…' : c, begin, end);
    } else {
      AppendNormalized(source.substr(begin, end - begin), begin, end, placed);
    }
    if (label) placed.Add(U'、', begin, end);
    at = end;
  }
  return placed;
}

}  // namespace millrace::models
