#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace millrace::models {

// A folder that a repository takes models from: an index of models, or the folder of one model.
struct ModelSource {
  std::string name;  // the only model's; empty: the folder's
  std::filesystem::path folder;
};

// Checks a name: 1..128 letters, digits, '.', '_' and '-', not starting with '.', so that it cannot
// leave the repository.
absl::Status CheckModelName(std::string_view name);

// Parses a folder's name as a version: decimal without leading zeros, so that each version has one
// spelling.
std::optional<int64_t> VersionOf(std::string_view name);

// Parses folders with commas between them, each perhaps with a name: "/srv/models" or
// "/srv/models,voice=/mnt/models". So the path of a folder has no comma, and one with '=' before
// its first '/' begins with "./". Touches no file.
absl::StatusOr<std::vector<ModelSource>> ParseModelSources(std::string_view text);

// Returns the first of such folders that holds a folder for each model, where new models belong.
absl::StatusOr<std::filesystem::path> FolderForNewModels(std::string_view text);

}  // namespace millrace::models
