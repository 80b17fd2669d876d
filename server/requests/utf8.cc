#include "server/requests/utf8.h"

#include <utf8proc.h>

#include "models/text/unicode.h"

namespace millrace::server {

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    if (static_cast<signed char>(text.front()) >= 0) {
      text.remove_prefix(1);
      continue;
    }
    utf8proc_int32_t code_point = 0;
    const utf8proc_ssize_t size =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                         static_cast<utf8proc_ssize_t>(text.size()), &code_point);
    if (size <= 0) return false;
    text.remove_prefix(static_cast<size_t>(size));
  }
  return true;
}

size_t CountCharacters(std::string_view text) { return models::CountCodePoints(text); }

}  // namespace millrace::server
