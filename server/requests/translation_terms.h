#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "models/core/payload.h"

namespace millrace::server {

// Checks the glossary and the do-not-translate list: their sizes, and that no term has two
// meanings. Drops duplicates. InvalidArgument names the entry.
absl::Status CheckTerms(std::vector<models::GlossaryEntry>& glossary,
                        const std::vector<std::string>& do_not_translate);

}  // namespace millrace::server
