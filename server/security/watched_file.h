#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"

namespace millrace {

// A small file whose changes take effect while the server runs. One thread reads it now and then,
// and Reload reads it at once. A change that cannot be read or is refused is logged once, and what
// was loaded before stays in force. Replace the file by a rename: a reader may see half of a write.
//
// Thread-safe.
class WatchedFile {
 public:
  struct Content {
    std::string text;
    mode_t mode = 0;
  };
  // These functions are called by one thread at a time.
  struct Reader {
    // Begins the line of the log when a file is not loaded, such as "API keys not loaded; ...".
    std::string not_loaded;
    // Called with what was read, each time; an error leaves the content alone. May be null.
    std::function<absl::Status(const Content&)> check;
    // Called with a text that differs from the last one.
    std::function<absl::Status(const std::string& text)> load;
  };
  struct Options {
    std::chrono::milliseconds poll_interval = std::chrono::seconds(2);  // 0: no thread, only Reload
    Clock* clock = &Clock::Real();
  };

  WatchedFile(std::filesystem::path file, Reader reader, Options options);
  ~WatchedFile();
  WatchedFile(const WatchedFile&) = delete;
  WatchedFile& operator=(const WatchedFile&) = delete;

  // Reads the file now, and logs why it is not loaded; returns OK when its content is in force.
  absl::Status Reload() MILLRACE_EXCLUDES(reload_mu_);
  // Starts the thread. What the reader uses must outlive this object.
  void Watch();

  const std::filesystem::path& path() const { return file_; }

 private:
  // repeats: logs an error also if it is the one of the last attempt.
  absl::Status Reload(bool repeats) MILLRACE_EXCLUDES(reload_mu_);
  absl::Status Load() MILLRACE_REQUIRES(reload_mu_);
  void PollLoop() MILLRACE_EXCLUDES(poll_mu_);

  const std::filesystem::path file_;
  const Reader reader_;
  const Options options_;

  Mutex reload_mu_;
  // The content that was read last and its outcome, so that the same content is parsed once.
  std::optional<std::string> content_ MILLRACE_GUARDED_BY(reload_mu_);
  absl::Status content_status_ MILLRACE_GUARDED_BY(reload_mu_);
  bool is_new_ MILLRACE_GUARDED_BY(reload_mu_) = false;  // the last attempt found other content
  // The outcome of the last attempt, so that the thread logs the same error once.
  absl::Status outcome_ MILLRACE_GUARDED_BY(reload_mu_);

  Mutex poll_mu_;
  CondVar poll_cv_;
  bool stopping_ MILLRACE_GUARDED_BY(poll_mu_) = false;
  std::thread poller_;  // declared last: it uses all of the above
};

}  // namespace millrace
