#pragma once

#include <string>
#include <string_view>

namespace millrace {

// Returns what a client sent in quotes for a message, cut after 64 bytes of UTF-8.
std::string Shown(std::string_view text);

}  // namespace millrace
