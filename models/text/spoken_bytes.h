#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::models {

// How long UTF-8 text takes to say, in bytes of Latin letters: the letters of Indian scripts, which
// have three bytes, count one, as they are one sound each. Linear time.
size_t CountSpokenBytes(std::string_view text);

// The longest beginning of the text that counts at most so many; whole characters.
std::string_view TakeSpokenBytes(std::string_view text, size_t count);

}  // namespace millrace::models
