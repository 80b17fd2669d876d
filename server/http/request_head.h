#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace {

// The first bytes of a request: its line and its headers, each ended by CR LF, and an empty line.

// The size of the head that the bytes begin with; 0: its end is not among them. What lies before
// `searched` is known to hold no end.
size_t HeadSize(std::string_view bytes, size_t searched);

// The head without its headers of that name (in lower case), for a server that must not know of
// them.
std::string WithoutHeader(std::string_view head, std::string_view name);

// The method and the path of a head, as sent and without the query; empty where there are none.
std::string_view MethodOf(std::string_view head);
std::string_view PathOf(std::string_view head);

}  // namespace millrace
