#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/documents/document.h"

namespace millrace::server {

// Reads an e-book. Its chapters and its navigation are translated, and the table of contents of
// EPUB 2; everything else stays.
absl::StatusOr<std::unique_ptr<Document>> ReadEpub(std::string bytes, const DocumentLimits& limits);

}  // namespace millrace::server
