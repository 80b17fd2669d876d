#include "models/text/english/html_entity.h"

#include "models/text/ascii.h"
#include "models/text/english/word_kinds.h"

namespace millrace::models {

std::optional<Reading> ReadHtmlEntity(std::string_view text, size_t at) {
  constexpr size_t kLongest = 8;
  if (ByteAt(text, at) != '&') return std::nullopt;
  const size_t end = text.substr(0, at + kLongest).find(';', at) + 1;
  const auto spoken = end > 0 ? FindSpoken(text.substr(at, end - at), "entity") : std::nullopt;
  return spoken ? std::optional(ReadAs(end, *spoken)) : std::nullopt;
}

}  // namespace millrace::models
