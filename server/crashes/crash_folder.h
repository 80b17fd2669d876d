#pragma once

#include <cstddef>
#include <filesystem>
#include <utility>

#include "absl/status/status.h"
#include "mps_runtime/base/mutex.h"
#include "server/crashes/crash_file.h"

namespace millrace::server {

// The folder of crash reports, of which the newest are kept. Several servers may share one: the
// bound is then that of all. Thread-safe.
class CrashFolder {
 public:
  static constexpr size_t kMostReports = 100;

  explicit CrashFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Makes the folder if it is not there, and removes reports that are too many. Returns why no
  // report could be written.
  absl::Status Open() const;
  // Writes a report. Of failures in a row the first is logged.
  void Write(const CrashFacts& facts, const CrashPage& page) MILLRACE_EXCLUDES(mu_);

 private:
  void RemoveOld() const;

  const std::filesystem::path folder_;
  Mutex mu_;
  bool failed_ MILLRACE_GUARDED_BY(mu_) = false;
};

}  // namespace millrace::server
