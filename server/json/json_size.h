#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace millrace::server {

// Returns InvalidArgument for a text of JSON with more values than any request needs. A value of
// two bytes takes some fifty once it is parsed, so the size of the text alone bounds no memory.
// what: the name of the text in the message. Does not check that the text is JSON.
absl::Status CheckJsonSize(std::string_view what, std::string_view text);

}  // namespace millrace::server
