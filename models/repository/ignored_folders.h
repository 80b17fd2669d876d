#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace millrace::models {

// Returns why an entry of an index of models (see ModelRepository) holds no model that can be
// loaded, and what would help, as a line for the operator; empty for a model, and for files and
// hidden folders, which are meant to be left out.
std::string WhyIgnored(const std::filesystem::path& entry);

// Returns these lines for a folder of models, by name, at most 20 of them. None if the folder is
// itself a model, or cannot be read.
std::vector<std::string> IgnoredFolders(const std::filesystem::path& folder);

}  // namespace millrace::models
