#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/documents/document.h"

namespace millrace::server {

// Reads XLIFF 1.2 and 2: each unit that has no translation gets one in its `target`, with the
// inline elements of its `source`, and a state that says so. Units that are translated, approved or
// marked as not to be translated stay. `target_language` is declared where the file names none.
absl::StatusOr<std::unique_ptr<Document>> ReadXliff(std::string bytes, const DocumentLimits& limits,
                                                    std::string_view target_language);

}  // namespace millrace::server
