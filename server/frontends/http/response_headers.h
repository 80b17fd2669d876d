#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "nlohmann/json_fwd.hpp"
#include "server/http/httplib_fwd.h"
#include "server/requests/request_run.h"

namespace millrace::server {

// Gives the answer a Warning header, beside those that it has, unless the warning is empty.
void AddWarning(const std::string& warning, httplib::Response& response);

// Names the members of an object that are none of the known ones, nor null, in such a header.
void AddWarningOfOthers(const nlohmann::json& members,
                        std::initializer_list<std::string_view> known, httplib::Response& response);

// Gives the answer to a request the header fields RateLimit-Policy and RateLimit, if its sender has
// limits. Must be called before the headers are sent.
void SetRateLimitHeaders(const RequestRun& run, httplib::Response& response);

}  // namespace millrace::server
