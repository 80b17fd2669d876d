#pragma once

namespace millrace {

// Returns true if a byte of UTF-8 continues a character. A text must not be cut before such a byte.
inline bool IsContinuationByte(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

}  // namespace millrace
