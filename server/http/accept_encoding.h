#pragma once

#include <string_view>

namespace millrace {

// Returns true if the head of a request has an Accept-Encoding that allows this coding, such as
// "gzip" (RFC 9110, 12.5.3). Without the header, or with one that cannot be read, it does not.
bool AcceptsEncoding(std::string_view head, std::string_view coding);

}  // namespace millrace
