#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/text/espeak_process.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::models {

// The absolute path of a program named by a path or found in PATH; FailedPrecondition, naming the
// package to install, if none.
absl::StatusOr<std::filesystem::path> FindEspeak(const std::string& program);

// A bounded set of espeak-ng processes of one voice, started when they are needed and kept. One
// that died is replaced, and the call that met it asks once more; one that hung costs that call.
// Thread-safe; a call waits while all are busy.
class EspeakPool {
 public:
  struct Options {
    EspeakProcess::Options process;
    size_t max_processes = 4;
    std::chrono::milliseconds timeout{5000};  // of one call, waiting included
  };

  explicit EspeakPool(Options options) : options_(std::move(options)) {}

  // As EspeakProcess::Translate, but Unavailable for a text that ends the process each time.
  absl::StatusOr<std::vector<std::string>> Translate(std::span<const std::string> lines)
      MILLRACE_EXCLUDES(mu_);

 private:
  // The right to use one process, given back when it goes out of scope, by an exception too.
  class Lease {
   public:
    explicit Lease(EspeakPool& pool) : pool_(pool) {}
    ~Lease() { pool_.Release(std::move(process)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    std::unique_ptr<EspeakProcess> process;  // null: none that is worth keeping

   private:
    EspeakPool& pool_;
  };

  // Asks the process, or a new one where there is none; null afterwards unless it is worth keeping.
  absl::StatusOr<std::vector<std::string>> Ask(
      std::unique_ptr<EspeakProcess>& process, std::span<const std::string> lines,
      std::chrono::steady_clock::time_point deadline) const;
  // Waits for the right to use a process. Null with it: there is no idle one.
  absl::StatusOr<std::unique_ptr<EspeakProcess>> Acquire(
      std::chrono::steady_clock::time_point deadline) MILLRACE_EXCLUDES(mu_);
  void Release(std::unique_ptr<EspeakProcess> process) MILLRACE_EXCLUDES(mu_);

  const Options options_;
  Mutex mu_;
  CondVar released_;
  std::vector<std::unique_ptr<EspeakProcess>> idle_ MILLRACE_GUARDED_BY(mu_);
  size_t busy_ MILLRACE_GUARDED_BY(mu_) = 0;
};

}  // namespace millrace::models
