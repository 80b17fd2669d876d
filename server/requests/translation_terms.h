#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "models/core/payload.h"

namespace millrace::server {

// Checks the glossary and the list of what is not translated: their sizes, and that no term is to
// become two things. Drops entries that come twice. InvalidArgument names the entry.
absl::Status CheckTerms(std::vector<models::GlossaryEntry>& glossary,
                        const std::vector<std::string>& do_not_translate);

}  // namespace millrace::server
