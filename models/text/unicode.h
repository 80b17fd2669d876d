#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::models {

// UTF-8 by utf8proc. All functions are thread-safe, and only EncodeUtf8 and Decompose allocate.

// Returns true for well-formed UTF-8 as the Unicode standard defines it: no overlong forms, no
// surrogates, nothing above U+10FFFF.
bool IsValidUtf8(std::string_view text);

// One code point of a text.
struct CodePoint {
  char32_t value = 0;
  size_t bytes = 0;  // 0 only at an end of the text
};

// Decodes the code point at `at`. A byte that is not UTF-8, as of a surrogate or of an overlong
// form, counts as one code point, U+FFFD.
CodePoint DecodeAt(std::string_view text, size_t at);
// Decodes the code point that ends at `at`. There is none before 0: its value and its size are 0,
// as those of DecodeAt() at the end.
CodePoint DecodeBefore(std::string_view text, size_t at);

// Decodes all of a text.
std::u32string DecodeUtf8(std::string_view text);

// Encodes a code point, which must not be a surrogate, as UTF-8.
std::string EncodeUtf8(char32_t c);

// Returns a text without NUL in normalisation form D; empty if it is not UTF-8.
std::string Decompose(const std::string& text);

// Counts the code points of valid UTF-8.
size_t CountCodePoints(std::string_view text);

// Returns true for line and paragraph breaks: LF, VT, FF, CR, NEL, U+2028, U+2029.
bool IsLineBreak(char32_t c);
// Returns true for Unicode's White_Space.
bool IsSpace(char32_t c);
// Returns true for the pauses of East Asian text within a sentence, which no space follows: 、 ，
// ； ：
bool IsWidePause(char32_t c);
bool IsDigit(char32_t c);  // ASCII only
// Return true for Unicode's categories Ll and Lu.
bool IsLower(char32_t c);
bool IsUpper(char32_t c);
// Return the letter of the other case; a character without one, such as a digit or ß, stays.
char32_t ToLower(char32_t c);
char32_t ToUpper(char32_t c);
// Returns true for a letter of any script and for a mark that belongs to one (categories L*, Mn,
// Mc).
bool IsLetter(char32_t c);
// Returns true for letters and digits of scripts that separate words; false for Chinese and
// Japanese.
bool IsWordCharacter(char32_t c);

}  // namespace millrace::models
