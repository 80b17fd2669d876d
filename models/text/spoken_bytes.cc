#include "models/text/spoken_bytes.h"

#include "models/text/unicode.h"

namespace millrace::models {
namespace {

size_t SpokenBytes(const CodePoint& c) {
  // These are the scripts from Devanagari to Sinhala.
  const bool indian = c.value >= 0x900 && c.value <= 0xDFF;
  return indian ? 1 : c.bytes;
}

}  // namespace

size_t CountSpokenBytes(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = DecodeAt(text, at);
    count += SpokenBytes(c);
    at += c.bytes;
  }
  return count;
}

std::string_view TakeSpokenBytes(std::string_view text, size_t count) {
  size_t at = 0;
  while (at < text.size()) {
    const CodePoint c = DecodeAt(text, at);
    if (SpokenBytes(c) > count) break;
    count -= SpokenBytes(c);
    at += c.bytes;
  }
  return text.substr(0, at);
}

}  // namespace millrace::models
