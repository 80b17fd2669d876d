#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "models/repository/model_repository.h"

namespace millrace::models {

// Returns a digest that identifies a package whatever its name: SHA-256 over its config and the
// files that the config names, each with its name and size, as 64 hexadecimal digits. Reads all
// files, about a second for each gigabyte.
absl::StatusOr<std::string> DigestOf(const ModelRepository::Package& package);

}  // namespace millrace::models
