#pragma once

#include <string>
#include <string_view>

namespace httplib {
struct Request;
}  // namespace httplib

namespace millrace::server {

// Returns the key of `authorization: <scheme> <key>`, or an empty string. The case of the scheme is
// ignored.
std::string KeyOfScheme(const httplib::Request& request, std::string_view scheme);

}  // namespace millrace::server
