#include "models/text/english/emoticon.h"

#include "models/text/ascii.h"
#include "models/text/english/spoken_symbols.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Returns one past a name between colons; 0 if there is none.
size_t NameEnd(std::string_view text, size_t at) {
  constexpr size_t kMaxNameBytes = 32;
  size_t end = at + 1;
  while (end - at <= kMaxNameBytes) {
    const char c = ByteAt(text, end);
    if (!IsAsciiLower(c) && !IsAsciiDigit(c) && c != '_' && c != '+' && c != '-') break;
    ++end;
  }
  const bool closed = end > at + 2 && ByteAt(text, end) == ':';
  return closed && !IsAsciiAlnum(ByteAt(text, end + 1)) ? end + 1 : 0;
}

}  // namespace

size_t EmoticonEnd(std::string_view text, size_t at) {
  if (at > 0 && !IsSpace(DecodeBefore(text, at).value)) return 0;
  constexpr std::string_view kShrug = "¯\\_(ツ)_/¯";
  if (text.substr(at).starts_with(kShrug)) return at + kShrug.size();
  constexpr std::string_view kBrokenHeart = "</3";
  if (text.substr(at).starts_with(kBrokenHeart) &&
      !IsAsciiAlnum(ByteAt(text, at + kBrokenHeart.size())))
    return at + kBrokenHeart.size();
  const char eyes = ByteAt(text, at);
  if (eyes == '\0' || !IsAmong(":;=", eyes)) return 0;
  if (eyes == ':') {
    if (const size_t end = NameEnd(text, at); end > 0) return end;
  }
  const char nose = ByteAt(text, at + 1);
  const size_t mouth = at + (nose == '-' || nose == '\'' ? 2 : 1);
  const char c = ByteAt(text, mouth);
  if (c == '\0' || !IsAmong(")(DPpOo/|*3", c)) return 0;
  const CodePoint behind = DecodeAt(text, mouth + 1);
  const bool free =
      behind.bytes == 0 || IsSpace(behind.value) || !PauseMark(behind.value, false).empty();
  return free ? mouth + 1 : 0;
}

size_t ShoutEnd(std::string_view text, size_t end, size_t count) {
  size_t last = end;
  while (ByteAt(text, last) == '1' || ByteAt(text, last) == '!') ++last;
  const bool shouts = count > 1 || (last > end && text[last - 1] == '!');
  return shouts && !IsAsciiAlnum(ByteAt(text, last)) ? last : end;
}

}  // namespace millrace::models
