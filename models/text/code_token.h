#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::models {

// Returns the end of a piece of code without spaces that begins at `at`: a regular expression
// (^\d+$), an operator within a word (a&&b), names joined by :: (std::vector), an address of
// hexadecimal numbers (2001:db8::1), a media type (text/html), a hexadecimal number (0x1F), the
// name of an error (ENOENT), a name with inner capitals (userName), the condition of a version
// (>=3.8), an operator between spaces (a && b). Returns 0 if none begins there. It looks at a
// bounded number of bytes; a token begins at `at`.
size_t CodeTokenEnd(std::string_view text, size_t at);

}  // namespace millrace::models
