// Looks for weight files that are opened although their tensors do not fit into them.
//
// usage: safetensors_fuzz [-max_total_time=60] tests/fuzz/seeds/safetensors

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "models/core/tensor.h"
#include "models/weights/safetensors.h"
#include "tests/fuzz/require.h"

namespace millrace::models {
namespace {

// A file that holds one input after another and is removed at exit. It is in memory where that is
// possible, so that no disk has to write it.
class InputFile {
 public:
  InputFile()
      : path_((Folder() / "safetensors_fuzz.XXXXXX").string()), descriptor_(mkstemp(path_.data())) {
    Require(descriptor_ >= 0, "no temporary file");
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() {
    close(descriptor_);
    unlink(path_.c_str());
  }

  const std::string& Write(const uint8_t* data, size_t size) {
    Require(ftruncate(descriptor_, 0) == 0, "the file cannot be emptied");
    Require(pwrite(descriptor_, data, size, 0) == static_cast<ssize_t>(size),
            "the file cannot be written");
    return path_;
  }

 private:
  static std::filesystem::path Folder() {
    const std::filesystem::path memory = "/dev/shm";
    return std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
  }

  std::string path_;
  const int descriptor_;
};

// The reads go here, lest the compiler leaves them out.
volatile std::byte last_byte_read;

// Returns how many bytes stand behind the header of a file that was opened.
size_t DataBytes(const uint8_t* data, size_t size) {
  uint64_t header = 0;
  for (int i = 7; i >= 0; --i) header = header << 8 | data[i];
  return size - 8 - static_cast<size_t>(header);
}

void TryFile(const std::string& path, const uint8_t* data, size_t size) {
  const absl::StatusOr<SafetensorsFile> file = SafetensorsFile::Open(path);
  if (!file.ok()) {
    Require(absl::IsDataLoss(file.status()), "another error than DataLoss");
    return;
  }
  const size_t most = DataBytes(data, size);
  for (const auto& [name, tensor] : file->tensors()) {
    const std::optional<int64_t> count = ElementCount(tensor.shape);
    Require(count && tensor.bytes == static_cast<size_t>(*count) * ElementSize(tensor.type),
            "the bytes do not fit the shape");
    Require(tensor.bytes <= most, "a tensor is longer than the file");
    // Reading beyond the mapping ends the process.
    for (size_t i = 0; i < tensor.bytes; ++i) last_byte_read = tensor.data[i];
    Require(file->Find(name).ok(), "a tensor is not found by its name");
  }
}

}  // namespace
}  // namespace millrace::models

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static millrace::models::InputFile file;
  millrace::models::TryFile(file.Write(data, size), data, size);
  return 0;
}
