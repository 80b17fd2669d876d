#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"

namespace millrace::server {

// OK for a text that is not empty and has no NUL; else INVALID_ARGUMENT naming the field. The text
// is valid UTF-8 already.
absl::Status CheckText(std::string_view field, std::string_view text);
// OK when the characters of the whole request are within the limit.
absl::Status CheckTotal(std::string_view field, size_t characters, size_t limit);

// A version says nothing without the model's name.
absl::Status CheckVersion(std::string_view model, std::string_view version);

}  // namespace millrace::server
