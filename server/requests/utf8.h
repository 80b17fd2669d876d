#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::server {

// Well-formed as the Unicode standard has it: no overlong forms, no surrogates, nothing above
// U+10FFFF.
bool IsValidUtf8(std::string_view text);
// Code points of a valid text.
size_t CountCharacters(std::string_view text);

}  // namespace millrace::server
