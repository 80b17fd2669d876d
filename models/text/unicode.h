#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::models {

// UTF-8 by utf8proc. All functions are thread-safe, and only EncodeUtf8 allocates.

// One code point of a text.
struct CodePoint {
  char32_t value = 0;
  size_t bytes = 0;  // 0 only at the end of the text
};

// The code point at `at`. A byte that is not UTF-8, as of a surrogate or of an overlong form,
// counts as one code point, U+FFFD.
CodePoint DecodeAt(std::string_view text, size_t at);
// What ends at `at`, which must be greater than 0.
CodePoint DecodeBefore(std::string_view text, size_t at);

// Whether a byte of UTF-8 belongs to a character that began before it.
bool IsContinuationByte(char byte);

// A code point that is no surrogate, as UTF-8.
std::string EncodeUtf8(char32_t c);

// Of valid UTF-8.
size_t CountCodePoints(std::string_view text);

// A line or paragraph break: LF, VT, FF, CR, NEL, U+2028, U+2029.
bool IsLineBreak(char32_t c);
// Unicode's White_Space.
bool IsSpace(char32_t c);
// The pauses of East Asian text within a sentence, behind which no space stands: 、 ， ； ：
bool IsWidePause(char32_t c);
bool IsDigit(char32_t c);  // ASCII only
// Unicode's categories Ll and Lu.
bool IsLower(char32_t c);
bool IsUpper(char32_t c);
// The letter of the other case; a character without one, such as a digit or ß, stays.
char32_t ToLower(char32_t c);
char32_t ToUpper(char32_t c);
// A letter or digit of a script that writes words apart: of Chinese and Japanese it is none.
bool IsWordCharacter(char32_t c);

}  // namespace millrace::models
