#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/payload.h"

namespace millrace::server {

// Reads the entries of a glossary in one of DeepL's formats: "tsv", a source and a target with a
// tab between them on each line, or "csv", with commas and, where needed, quotes. InvalidArgument
// names the line.
absl::StatusOr<std::vector<models::GlossaryEntry>> ParseGlossaryEntries(std::string_view text,
                                                                        std::string_view format);

// Returns them as tsv.
std::string GlossaryAsTsv(const std::vector<models::GlossaryEntry>& entries);

}  // namespace millrace::server
