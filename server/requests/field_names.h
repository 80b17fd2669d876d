#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

namespace millrace::server {

// A protocol's names for fields of requests: ours, theirs. The first that fits is taken. An error
// about a pair of languages is one of "source_language, target_language", which stands before
// "source_language" here.
using FieldNames = std::span<const std::pair<std::string_view, std::string_view>>;

// Returns the message of a status, which names a field first if it is about one, with the
// protocol's name for that field.
std::string MessageWithNames(const absl::Status& status, FieldNames names);

}  // namespace millrace::server
