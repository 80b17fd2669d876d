#include "models/repository/package_size.h"

#include <filesystem>
#include <map>
#include <string>
#include <system_error>

namespace millrace::models {

uint64_t SizeOf(const ModelRepository::Package& package) {
  std::map<std::string, uint64_t> sizes;  // a file counts once, however often it is named
  for (const PackageFile& file : package.config.settings->files()) {
    std::error_code error;
    const uint64_t size = std::filesystem::file_size(package.folder / file.name, error);
    sizes[file.name] = error ? 0 : size;
  }
  uint64_t sum = 0;
  for (const auto& [name, size] : sizes) sum += size;
  return sum;
}

}  // namespace millrace::models
