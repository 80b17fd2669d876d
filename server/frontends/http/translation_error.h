#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

namespace httplib {
struct Response;
}  // namespace httplib

namespace millrace::server {

// A protocol's names for the fields of a TranslationRequest: ours, theirs. A longer one of ours
// goes before its beginnings.
using FieldNames = std::span<const std::pair<std::string_view, std::string_view>>;

// Returns the message of a status, which names a field first if it is about one, with the
// protocol's name for that field.
std::string MessageWithNames(const absl::Status& status, FieldNames names);

// Sets the HTTP status of an error, and Retry-After, for protocols that know neither 401, which
// becomes 403, nor a 404 of a language, which becomes 400.
void SetTranslationErrorStatus(httplib::Response& response, const absl::Status& status);

}  // namespace millrace::server
