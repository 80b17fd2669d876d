#pragma once

#include <atomic>
#include <vector>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/base/mutex.h"
#include "server/scheduling/shared_loops.h"

namespace millrace::server {

// Threads that compute parts of the loops of an executor's workers while processors are free. In
// the front idle workers do so; those of an executor wait for orders. Thread-safe.
class LoopHelpers {
 public:
  // cores: how many threads may compute at once, helpers and workers together.
  LoopHelpers(int workers, int cores, Clock& clock = Clock::Real());
  LoopHelpers(const LoopHelpers&) = delete;
  LoopHelpers& operator=(const LoopHelpers&) = delete;
  ~LoopHelpers();

  SharedLoop* loops(int worker) { return &loops_.of(worker); }

  // A worker is busy from the one to the other; then there are fewer helpers.
  void BeginStep() MILLRACE_EXCLUDES(mu_);
  void EndStep() MILLRACE_EXCLUDES(mu_);

 private:
  void Run() MILLRACE_EXCLUDES(mu_);
  void Wake() MILLRACE_EXCLUDES(mu_);
  int Most() const MILLRACE_REQUIRES(mu_);
  void Count() MILLRACE_REQUIRES(mu_);

  const int cores_;
  SharedLoops loops_;

  Mutex mu_;
  CondVar work_;
  int busy_ MILLRACE_GUARDED_BY(mu_) = 0;
  int helping_ MILLRACE_GUARDED_BY(mu_) = 0;
  bool stop_ MILLRACE_GUARDED_BY(mu_) = false;
  int helpers_ MILLRACE_GUARDED_BY(mu_) = 0;
  std::atomic<uint32_t> recalls_{
      0};  // raised when helpers have to look again whether they may help

  std::vector<JoiningThread> threads_;  // declared last: they use everything above
};

}  // namespace millrace::server
