#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "absl/status/statusor.h"
#include "mps_runtime/base/file.h"

namespace millrace::models {

// The largest files that are read, in bytes: well above those of any known model, and small enough
// that a wrong file causes an error message instead of the end of the process.
constexpr uint64_t kMaxSettingsBytes = uint64_t{4} << 20;     // JSON settings of a model
constexpr uint64_t kMaxVocabularyBytes = uint64_t{64} << 20;  // pieces, tokens
constexpr uint64_t kMaxLexiconBytes = uint64_t{256} << 20;    // mapped
constexpr uint64_t kMaxWeightsBytes = uint64_t{64} << 30;     // mapped, or read once

// An open file and its size.
struct RegularFile {
  FileDescriptor descriptor;
  uint64_t bytes = 0;
};

// Opens a file of at most `most` bytes for reading. Rejects everything but regular files, because
// opening a pipe, for example, waits for a writer. NOT_FOUND when it cannot be opened, else
// FAILED_PRECONDITION; the message names the file.
absl::StatusOr<RegularFile> OpenRegularFile(const std::filesystem::path& path, uint64_t most);

// Reads a whole file of at most `most` bytes. A file that grows beyond that while it is read is
// rejected.
absl::StatusOr<std::string> ReadRegularFile(const std::filesystem::path& path, uint64_t most);

}  // namespace millrace::models
