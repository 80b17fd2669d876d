#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::models {

// Returns how long UTF-8 text takes to speak, in bytes of Latin letters: letters of Indian scripts,
// which have three bytes, count one, because each is one sound. Linear time.
size_t CountSpokenBytes(std::string_view text);

// Returns the longest beginning of the text that counts at most this much, in whole characters.
std::string_view TakeSpokenBytes(std::string_view text, size_t count);

}  // namespace millrace::models
