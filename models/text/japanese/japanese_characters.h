#pragma once

namespace millrace::models {

inline bool IsKatakana(char32_t c) { return (c >= 0x30A1 && c <= 0x30FA) || c == U'ー'; }
inline bool IsHiragana(char32_t c) { return c >= 0x3041 && c <= 0x3096; }
inline bool IsWideLatin(char32_t c) {
  return (c >= 0xFF21 && c <= 0xFF3A) || (c >= 0xFF41 && c <= 0xFF5A);
}

}  // namespace millrace::models
