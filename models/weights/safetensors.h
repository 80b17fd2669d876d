#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/tensor.h"

namespace millrace::models {

// A safetensors file, mapped into memory: an 8-byte length, a JSON header, then the tensors. Pages
// are read when they are accessed, and processes share them. Immutable, so thread-safe; views into
// it are valid as long as it exists. Every offset of the header is checked when it is opened: a
// damaged file is an error and never causes an invalid read.
class SafetensorsFile {
 public:
  struct View {
    DataType type = DataType::kFp32;
    std::vector<int64_t> shape;
    const std::byte* data = nullptr;  // aligned for the type
    size_t bytes = 0;
  };

  static absl::StatusOr<SafetensorsFile> Open(const std::filesystem::path& path);
  SafetensorsFile(SafetensorsFile&& other) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&& other) noexcept;
  ~SafetensorsFile();

  const std::filesystem::path& path() const { return path_; }
  // Returns NotFound that names the file when there is no tensor with this name.
  absl::StatusOr<View> Find(std::string_view name) const;
  // Gives back the memory that the pages of a tensor take in this process. Those that are accessed
  // again are read again.
  void Release(const View& view) const;
  const std::map<std::string, View, std::less<>>& tensors() const { return tensors_; }
  // The strings of the header's "__metadata__".
  const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }

 private:
  SafetensorsFile() = default;
  absl::Status ReadHeader();

  std::filesystem::path path_;
  const std::byte* mapping_ = nullptr;
  size_t size_ = 0;
  std::map<std::string, View, std::less<>> tensors_;
  std::map<std::string, std::string, std::less<>> metadata_;
};

}  // namespace millrace::models
