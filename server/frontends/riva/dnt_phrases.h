#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "models/core/payload.h"

namespace millrace::server {

// Reads an element of dnt_phrases: "term##translation" or "term", several joined by commas. Terms
// with a translation are added to the glossary, the others are kept. UTF-8. InvalidArgument names
// the field.
absl::Status TakeDntPhrases(std::string_view field, std::string_view phrases,
                            std::vector<models::GlossaryEntry>& glossary,
                            std::vector<std::string>& kept);

}  // namespace millrace::server
