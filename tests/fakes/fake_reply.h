#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "mps_runtime/base/mutex.h"
#include "server/scheduling/job.h"

namespace millrace::testing {

// A reply that keeps what it is given, for as long as the test wants. Thread-safe.
class FakeReply final : public server::Reply {
 public:
  void Emit(models::Output output) override MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    outputs_.push_back(std::move(output));
  }
  void Finish(const absl::Status& status) override MILLRACE_EXCLUDES(mu_) {
    if (on_finish) on_finish();
    MutexLock lock(mu_);
    ++finishes_;
    status_ = status;
    changed_.NotifyAll();
  }
  bool Congested() const override { return congested; }
  void Park(std::unique_ptr<server::Job> job) override MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    parked_ = std::move(job);
    changed_.NotifyAll();
  }

  // Waits for the end.
  absl::Status Wait() MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    while (!status_) changed_.Wait(mu_);
    return *status_;
  }
  // Waits until a job is parked.
  std::unique_ptr<server::Job> WaitParked() MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    while (parked_ == nullptr) changed_.Wait(mu_);
    return std::move(parked_);
  }
  // The end, if it has come.
  std::optional<absl::Status> status() const MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return status_;
  }
  int finishes() const MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return finishes_;
  }
  bool parked() const MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return parked_ != nullptr;
  }
  std::vector<models::Output> outputs() const MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return outputs_;
  }

  std::atomic<bool> congested{false};
  std::function<void()> on_finish;  // set before the job is submitted

 private:
  mutable Mutex mu_;
  CondVar changed_;
  std::vector<models::Output> outputs_ MILLRACE_GUARDED_BY(mu_);
  std::unique_ptr<server::Job> parked_ MILLRACE_GUARDED_BY(mu_);
  std::optional<absl::Status> status_ MILLRACE_GUARDED_BY(mu_);
  int finishes_ MILLRACE_GUARDED_BY(mu_) = 0;
};

}  // namespace millrace::testing
