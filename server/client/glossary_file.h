#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace millrace {

// Reads a file of --glossary: on each line a source, a tab and its translation. Blank lines are
// skipped. InvalidArgument names the file and the line.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadGlossaryFile(
    const std::filesystem::path& file);

}  // namespace millrace
