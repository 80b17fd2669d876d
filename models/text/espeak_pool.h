#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/espeak_options.h"
#include "models/text/espeak_process.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::models {

// Returns the absolute path of a program that is named by a path or found in PATH.
// FailedPrecondition names the package to install if there is none.
absl::StatusOr<std::filesystem::path> FindEspeak(const std::string& program);

// A bounded pool of espeak-ng processes of one voice, which are started on demand and kept. A
// process that died is replaced, and the call that noticed it retries once; a call whose process
// hung fails. Thread-safe; a call waits while all are busy.
class EspeakPool {
 public:
  struct Options {
    EspeakProcess::Options process;
    size_t max_processes = 4;
    std::chrono::milliseconds timeout{5000};  // for one call, waiting included
  };

  explicit EspeakPool(Options options) : options_(std::move(options)) {}

  // Makes a pool that speaks with espeak-ng's voice; see EspeakProcess::Options. The error is
  // FindEspeak's.
  static absl::StatusOr<std::unique_ptr<EspeakPool>> Create(const EspeakOptions& options,
                                                            std::string voice,
                                                            std::string tie = {});

  // Like EspeakProcess::Translate, but returns Unavailable for a text that ends the process each
  // time.
  absl::StatusOr<std::vector<std::string>> Translate(std::span<const std::string> lines)
      MILLRACE_EXCLUDES(mu_);

 private:
  // The right to use one process. The destructor returns it.
  class Lease {
   public:
    explicit Lease(EspeakPool& pool) : pool_(pool) {}
    ~Lease() { pool_.Release(std::move(process)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    std::unique_ptr<EspeakProcess> process;  // null: no process that can be reused

   private:
    EspeakPool& pool_;
  };

  // Calls the process, or a new one if it is null. It is null afterwards if it cannot be reused.
  absl::StatusOr<std::vector<std::string>> Ask(
      std::unique_ptr<EspeakProcess>& process, std::span<const std::string> lines,
      std::chrono::steady_clock::time_point deadline) const;
  // Waits for the right to use a process. Returns null with it if no process is idle.
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
