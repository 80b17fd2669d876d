#pragma once

#include <cstdlib>
#include <filesystem>

namespace millrace::testing {

// The converted models: MILLRACE_MODELS, or var/models.
inline std::filesystem::path ModelsFolder() {
  const char* folder = std::getenv("MILLRACE_MODELS");
  return folder != nullptr ? std::filesystem::path(folder)
                           : std::filesystem::path(MILLRACE_SOURCE_DIR) / "var" / "models";
}

}  // namespace millrace::testing
