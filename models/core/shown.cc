#include "models/core/shown.h"

#include <cstddef>

#include "models/core/strings.h"
#include "models/core/utf8.h"

namespace millrace {

std::string Shown(std::string_view text) {
  constexpr size_t kMaxShown = 64;
  if (text.size() <= kMaxShown) return StrCat("'", text, "'");
  size_t end = kMaxShown;
  while (end > 0 && IsContinuationByte(text[end])) --end;
  return StrCat("'", text.substr(0, end), "...'");
}

}  // namespace millrace
