#include "models/core/shown.h"

#include <cstddef>

#include "models/core/strings.h"

namespace millrace {

std::string Shown(std::string_view text) {
  constexpr size_t kMaxShown = 64;
  if (text.size() <= kMaxShown) return StrCat("'", text, "'");
  size_t end = kMaxShown;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;  // not inside a UTF-8 sequence
  return StrCat("'", text.substr(0, end), "...'");
}

}  // namespace millrace
