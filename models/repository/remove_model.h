#pragma once

#include <filesystem>
#include <string_view>

#include "absl/status/status.h"

namespace millrace::models {

// Removes a model and all of its versions from a folder of a repository. Whoever looks sees all of
// it or nothing; a server that has its files mapped keeps them. NOT_FOUND if it is not there.
absl::Status RemoveModel(const std::filesystem::path& folder, std::string_view name);

}  // namespace millrace::models
