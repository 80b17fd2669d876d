#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "absl/status/status.h"

namespace millrace::models {

// Errors at a place of a text. A front end sees one sentence, so whoever gave it that sentence
// changes the place to the one in the whole text. Thread-safe.

// Returns an InvalidArgument whose message is `before`, the place ("byte 12") and `behind`.
absl::Status InvalidAt(std::string_view before, size_t byte, std::string_view behind);

// Returns the byte that the error names; nullopt if it was not made by InvalidAt.
std::optional<size_t> ByteOf(const absl::Status& error);

// Returns the error with the place of a text in which the one read begins at the byte. Other errors
// are returned as they are.
absl::Status MovedBy(const absl::Status& error, size_t bytes);

// Returns an error of InvalidAt that names `place` instead, such as "character 7".
absl::Status WithPlace(const absl::Status& error, std::string_view place);

}  // namespace millrace::models
