#pragma once

#include <atomic>
#include <cstdint>

#include "mps_runtime/base/mutex.h"
#include "tests/load/loadgen/calls.h"
#include "tests/load/loadgen/options.h"

namespace millrace::loadgen {

// Decides when calls start: on schedule (open loop), or each when another ends (closed loop). Run
// once, on one thread; calls end on gRPC's.
class Runner final : private CallObserver {
 public:
  Runner(const Options& options, Caller& caller, Recorder& recorder)
      : options_(options), caller_(caller), recorder_(recorder) {}

  // Returns when every call has ended; each has a deadline, so it does.
  void Run() MILLRACE_EXCLUDES(mu_);
  // No more calls are started. Safe on any thread.
  void Stop() { stopped_.store(true, std::memory_order_relaxed); }

  // Calls that were due.
  uint64_t offered() const { return next_.load(std::memory_order_relaxed); }

 private:
  void RunClosedLoop();
  void RunOpenLoop();
  // False when there is no next call.
  bool StartNext();
  bool Over(uint64_t index, SteadyTime now) const;
  void OnCallDone() override MILLRACE_EXCLUDES(mu_);
  void Release() MILLRACE_EXCLUDES(mu_);

  const Options& options_;
  Caller& caller_;
  Recorder& recorder_;

  std::atomic<bool> stopped_{false};
  std::atomic<uint64_t> next_{0};
  // Calls not ended; in Run() also one for the loop itself, so that it is 0 only when all is over.
  std::atomic<int64_t> outstanding_{0};
  Mutex mu_;
  CondVar all_done_;
  bool done_ MILLRACE_GUARDED_BY(mu_) = false;
};

}  // namespace millrace::loadgen
