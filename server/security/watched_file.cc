#include "server/security/watched_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "models/core/errors.h"
#include "mps_runtime/base/file.h"
#include "server/logging/logging.h"

namespace millrace {
namespace {

constexpr size_t kMaxFileBytes = size_t{4} << 20;

absl::StatusOr<WatchedFile::Content> ReadFile(const std::filesystem::path& file) {
  const auto error = [&] {
    return FailedPrecondition(file.string(), ": cannot be read: ", std::strerror(errno));
  };
  // The open does not block, because the path may name a pipe.
  const FileDescriptor descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat state {};
  if (descriptor.get() < 0 || fstat(descriptor.get(), &state) != 0) return error();
  if (!S_ISREG(state.st_mode)) return FailedPrecondition(file.string(), ": is not a file");
  std::optional<std::string> text = ReadToEnd(descriptor.get(), kMaxFileBytes);
  if (!text) return error();
  if (text->size() > kMaxFileBytes) {
    return FailedPrecondition(file.string(), ": is larger than ", kMaxFileBytes, " bytes");
  }
  WatchedFile::Content content;
  content.mode = state.st_mode & 07777;
  content.text = *std::move(text);
  return content;
}

}  // namespace

WatchedFile::WatchedFile(std::filesystem::path file, Reader reader, Options options)
    : file_(std::move(file)), reader_(std::move(reader)), options_(options) {}

WatchedFile::~WatchedFile() {
  {
    MutexLock lock(poll_mu_);
    stopping_ = true;
  }
  poll_cv_.NotifyAll();
  if (poller_.joinable()) poller_.join();
}

void WatchedFile::Watch() {
  if (options_.poll_interval.count() > 0) poller_ = std::thread([this] { PollLoop(); });
}

absl::Status WatchedFile::Reload() { return Reload(/*repeats=*/true); }

absl::Status WatchedFile::Reload(bool repeats) {
  MutexLock lock(reload_mu_);
  const absl::Status before = outcome_;
  outcome_ = Load();
  if (!outcome_.ok() && (repeats || outcome_ != before))
    logging::Error(reader_.not_loaded, {{"reason", outcome_.message()}});
  // New content was logged when it was loaded.
  if (outcome_.ok() && !before.ok() && !is_new_)
    logging::Info("the file is in order again", {{"file", file_.native()}});
  return outcome_;
}

absl::Status WatchedFile::Load() {
  is_new_ = false;
  MILLRACE_ASSIGN_OR_RETURN(Content content, ReadFile(file_));
  if (reader_.check) {
    MILLRACE_RETURN_IF_ERROR(reader_.check(content));
  }
  is_new_ = content.text != content_;
  if (!is_new_) return content_status_;
  content_status_ = reader_.load(content.text);
  content_ = std::move(content.text);
  return content_status_;
}

void WatchedFile::PollLoop() {
  MutexLock lock(poll_mu_);
  while (!stopping_) {
    const TimePoint next = options_.clock->Now() + options_.poll_interval;
    while (!stopping_ && options_.clock->Now() < next)
      options_.clock->WaitUntil(poll_cv_, poll_mu_, next);
    if (stopping_) return;
    lock.Unlock();
    // Reload logs errors; there is no caller to report them to.
    try {
      Reload(/*repeats=*/false).IgnoreError();
    } catch (const std::exception& error) {  // such as std::bad_alloc: nothing changes
      logging::Error(reader_.not_loaded, {{"file", file_.native()}, {"reason", error.what()}});
    }
    lock.Lock();
  }
}

}  // namespace millrace
