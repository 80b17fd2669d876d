#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "absl/status/statusor.h"
#include "mps_runtime/base/file.h"

namespace millrace::models {

// The largest files that are read, in bytes: well above what any model known today has, and small
// enough that a wrong file costs a message and not the process.
constexpr uint64_t kMaxSettingsBytes = uint64_t{4} << 20;     // JSON that says what a model is
constexpr uint64_t kMaxVocabularyBytes = uint64_t{64} << 20;  // pieces, tokens
constexpr uint64_t kMaxLexiconBytes = uint64_t{256} << 20;    // mapped
constexpr uint64_t kMaxWeightsBytes = uint64_t{64} << 30;     // mapped, or read once

// A file that is open for reading, and its size.
struct RegularFile {
  FileDescriptor descriptor;
  uint64_t bytes = 0;
};

// Opens a file of at most `most` bytes. Never waits, as the opening of a pipe does for its writer:
// anything but a regular file is refused. NOT_FOUND when it cannot be opened, else
// FAILED_PRECONDITION; the message names the file.
absl::StatusOr<RegularFile> OpenRegularFile(const std::filesystem::path& path, uint64_t most);

// The whole of such a file. One that grows meanwhile is read up to `most` bytes, and then refused.
absl::StatusOr<std::string> ReadRegularFile(const std::filesystem::path& path, uint64_t most);

}  // namespace millrace::models
