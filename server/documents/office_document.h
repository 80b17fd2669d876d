#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/documents/document.h"

namespace millrace::server {

// Read the documents of office programs: zip archives of XML. All paragraphs are translated, also
// those of tables, headers, footers, notes, comments, charts and diagrams; everything else stays.
absl::StatusOr<std::unique_ptr<Document>> ReadDocx(std::string bytes, const DocumentLimits& limits);
absl::StatusOr<std::unique_ptr<Document>> ReadPptx(std::string bytes, const DocumentLimits& limits);
absl::StatusOr<std::unique_ptr<Document>> ReadOdt(std::string bytes, const DocumentLimits& limits);
absl::StatusOr<std::unique_ptr<Document>> ReadOdp(std::string bytes, const DocumentLimits& limits);

}  // namespace millrace::server
