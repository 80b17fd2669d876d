#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/documents/document.h"

namespace millrace::server {

// Read subtitles. All but the texts of the cues stays byte for byte. A sentence that goes on in the
// next cue is translated as a whole and divided again.
absl::StatusOr<std::unique_ptr<Document>> ReadSrt(std::string bytes, const DocumentLimits& limits);
absl::StatusOr<std::unique_ptr<Document>> ReadWebVtt(std::string bytes,
                                                     const DocumentLimits& limits);

}  // namespace millrace::server
