#include "models/text/english/hardware_address.h"

#include "models/text/ascii.h"
#include "models/text/english/ipv6_address.h"

namespace millrace::models {
std::optional<Reading> ReadHardwareAddress(const NumberWords& numbers, std::string_view text,
                                           size_t at) {
  constexpr size_t kPairs = 6;
  constexpr size_t kPairBytes = 3;
  const char joint = ByteAt(text, at + 2);
  if (joint != ':' && joint != '-') return std::nullopt;
  const size_t end = at + kPairs * kPairBytes - 1;
  if (end > text.size() || IsAsciiAlnum(ByteAt(text, end)) || ByteAt(text, end) == joint)
    return std::nullopt;
  for (size_t i = at; i < end; ++i) {
    const bool divides = (i - at) % kPairBytes == kPairBytes - 1;
    if (divides ? text[i] != joint : !IsHexDigit(text[i])) return std::nullopt;
  }
  Reading reading{end, {}};
  for (size_t i = at; i < end; ++i) {
    if (text[i] != joint) AppendHexDigit(numbers, text[i], reading);
  }
  return reading;
}

}  // namespace millrace::models
