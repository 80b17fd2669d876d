#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "models/core/payload.h"
#include "nlohmann/json_fwd.hpp"

namespace millrace::server {

// These read the members for terms, which LibreTranslate does not have. InvalidArgument names the
// member and the entry.

// Reads a list of {"source": "...", "target": "..."}.
absl::Status TakeGlossary(const nlohmann::json& value, std::vector<models::GlossaryEntry>& out);
// The same from a form, whose value is that list as JSON.
absl::Status TakeGlossaryText(std::string_view text, std::vector<models::GlossaryEntry>& out);

}  // namespace millrace::server
