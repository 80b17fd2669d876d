#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "server/http/httplib_fwd.h"

namespace millrace::server {

// These read a parameter of a request's query, which may be given once. One that is absent, or has
// no value, leaves `out` as it is. Errors are INVALID_ARGUMENT with its name, the value and what is
// allowed.

absl::Status TakeQueryText(const httplib::Request& request, const char* name, std::string& out);
absl::Status TakeQueryFlag(const httplib::Request& request, const char* name, bool& out);
absl::Status TakeQueryNumber(const httplib::Request& request, const char* name, uint64_t least,
                             uint64_t most, uint64_t& out);

}  // namespace millrace::server
