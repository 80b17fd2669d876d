#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// A translated file.
struct Download {
  std::string file_name;  // what a client shall call it
  std::string media_type;
  std::string bytes;
};

// Keeps translated files in memory for some time, for clients that know their names. The oldest
// ones give way to new ones. Thread-safe.
class DownloadStore {
 public:
  struct Limits {
    size_t files = 256;
    size_t bytes = size_t{64} << 20;  // of all files; a single one is kept whatever its size
    Duration time = std::chrono::minutes(10);
  };

  // The clock must outlive it.
  DownloadStore(const Clock& clock, Limits limits) : clock_(clock), limits_(limits) {}

  // Returns the name of a file from now on: 32 hexadecimal digits that cannot be guessed, and the
  // extension.
  std::string Add(Download file, std::string_view extension) MILLRACE_EXCLUDES(mu_);
  // Null: there is no such file, or not any longer.
  std::shared_ptr<const Download> Find(std::string_view name) MILLRACE_EXCLUDES(mu_);

 private:
  struct Entry {
    std::string name;
    TimePoint end;
    std::shared_ptr<const Download> file;
  };

  void DropFirst() MILLRACE_REQUIRES(mu_);
  void DropOld() MILLRACE_REQUIRES(mu_);

  const Clock& clock_;
  const Limits limits_;
  Mutex mu_;
  std::deque<Entry> entries_ MILLRACE_GUARDED_BY(mu_);  // oldest first
  size_t bytes_ MILLRACE_GUARDED_BY(mu_) = 0;
};

}  // namespace millrace::server
