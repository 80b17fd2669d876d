#pragma once

#include <functional>
#include <string>

namespace httplib {
struct Request;
struct Response;
}  // namespace httplib

namespace millrace::server {

// Answers a request to a path that several protocols share, whose body was read. Returns false, and
// does nothing, if the request is not of its protocols.
using SharedPathHandler = std::function<bool(const httplib::Request& request,
                                             httplib::Response& response, const std::string& body)>;

}  // namespace millrace::server
