#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::server {

// Returns true for well-formed UTF-8 as the Unicode standard defines it: no overlong forms, no
// surrogates, nothing above U+10FFFF.
bool IsValidUtf8(std::string_view text);
// Returns the number of code points of a valid text.
size_t CountCharacters(std::string_view text);

}  // namespace millrace::server
