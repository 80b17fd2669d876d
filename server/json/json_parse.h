#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace millrace::server {

// These functions read what clients send as JSON. what: as errors begin, such as "the body" or
// "glossary:".

// Returns the value. InvalidArgument says where the text is no JSON, and what stands there, or
// which name an object has twice.
absl::StatusOr<nlohmann::json> ParseJson(std::string_view what, std::string_view text);
// Returns the same of a text that must hold an object.
absl::StatusOr<nlohmann::json> ParseObject(std::string_view what, std::string_view text);

// Returns the error of a text at whose byte `at`, from 1, the library stopped. It quotes no more
// than a character or a number, because the text may hold what belongs in no log.
absl::Status NotJson(std::string_view what, std::string_view text, size_t at,
                     const nlohmann::json::exception& error);

// Returns the same where the text has a byte at `at`, from 1, that no JSON has.
absl::Status NotJsonAt(std::string_view what, std::string_view text, size_t at);

}  // namespace millrace::server
