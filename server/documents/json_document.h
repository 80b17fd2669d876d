#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/documents/document.h"

namespace millrace::server {

// Reads JSON, as programs keep the texts of their user interface in it. The values that are strings
// with letters are translated; keys, numbers and white space stay, and so does what is below a key
// that begins with @ or $, as the metadata of ARB files and of JSON Schema does.
absl::StatusOr<std::unique_ptr<Document>> ReadJson(std::string bytes, const DocumentLimits& limits);

}  // namespace millrace::server
