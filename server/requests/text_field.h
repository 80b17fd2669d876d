#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"

namespace millrace::server {

// Returns OK for a text that is not empty and has no NUL; else INVALID_ARGUMENT naming the field.
// The text must be valid UTF-8.
absl::Status CheckText(std::string_view field, std::string_view text);
// Returns OK if the characters of the whole request are within the limit, else TooLongError.
absl::Status CheckTotal(std::string_view field, size_t characters, size_t limit);

// Returns INVALID_ARGUMENT for a version without a model, which means nothing.
absl::Status CheckVersion(std::string_view model, std::string_view version);

}  // namespace millrace::server
