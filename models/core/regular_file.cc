#include "models/core/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "absl/status/status.h"
#include "models/core/errors.h"

namespace millrace::models {
namespace {

absl::Status TooLarge(const std::filesystem::path& path, uint64_t bytes, uint64_t most) {
  return FailedPrecondition(path.string(), ": has ", bytes, " bytes, allowed are at most ", most);
}

}  // namespace

absl::StatusOr<RegularFile> OpenRegularFile(const std::filesystem::path& path, uint64_t most) {
  RegularFile file;
  file.descriptor = FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info = {};
  if (file.descriptor.get() < 0 || fstat(file.descriptor.get(), &info) != 0) {
    return NotFound(path.string(), ": cannot be read: ", std::strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) {
    return FailedPrecondition(path.string(), ": is not a regular file, and only such are read");
  }
  file.bytes = static_cast<uint64_t>(info.st_size);
  if (file.bytes > most) return TooLarge(path, file.bytes, most);
  return file;
}

absl::StatusOr<std::string> ReadRegularFile(const std::filesystem::path& path, uint64_t most) {
  MILLRACE_ASSIGN_OR_RETURN(const RegularFile file, OpenRegularFile(path, most));
  std::optional<std::string> text = ReadToEnd(file.descriptor.get(), most);
  if (!text) {
    return DataLoss(path.string(), ": cannot be read: ", std::strerror(errno));
  }
  if (text->size() > most) return TooLarge(path, text->size(), most);
  return *std::move(text);
}

}  // namespace millrace::models
