#include "server/crashes/crash_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/logging/logging.h"

namespace millrace::server {
namespace {

absl::Status FolderError(const std::filesystem::path& folder, std::string_view why) {
  return Unavailable("--crash-directory: '", folder.string(), "' cannot be written: ", why);
}

}  // namespace

absl::Status CrashFolder::Open() const {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) return FolderError(folder_, error.message());
  // Only a file that is written shows that the folder is not full.
  const std::string probe = (folder_ / StrCat("probe-", getpid(), ".part")).string();
  int written = 0;
  if (FileDescriptor file(open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
      file.get() < 0 || !WriteAll(file.get(), "probe") || !file.Close()) {
    written = errno;
  }
  unlink(probe.c_str());
  if (written != 0) return FolderError(folder_, std::strerror(written));
  RemoveOld();
  return absl::OkStatus();
}

void CrashFolder::Write(const CrashFacts& facts, const CrashPage& page) {
  const int error = WriteCrashFile(folder_.string(), facts, page);
  if (error == 0) RemoveOld();
  bool is_news = false;
  {
    const MutexLock lock(mu_);
    is_news = error != 0 && !failed_;
    failed_ = error != 0;
  }
  if (is_news) {
    logging::Error("a crash report could not be written",
                   {{"folder", folder_.string()}, {"error", std::strerror(error)}});
  }
}

void CrashFolder::RemoveOld() const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (name.starts_with(kCrashFilePrefix) && name.ends_with(kCrashFileSuffix))
      names.push_back(std::move(name));
  }
  if (names.size() <= kMostReports) return;
  std::ranges::sort(names);
  names.resize(names.size() - kMostReports);
  for (const std::string& name : names) std::filesystem::remove(folder_ / name, error);
}

}  // namespace millrace::server
