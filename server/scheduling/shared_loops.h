#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <optional>

#include "models/kernels/parallel_for.h"
#include "mps_runtime/base/check.h"
#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::server {

class SharedLoops;

// The loops of one worker's forwards, one after the other, whose parts idle workers may run. The
// worker always runs parts too, and waits only for parts that a helper has begun. Its own methods
// are the worker's; those of SharedLoops call the rest on any thread.
class SharedLoop final : public kernels::LoopRunner {
 public:
  SharedLoop(SharedLoops& loops, int worker);

  int Width() const override;
  // Opens the loop to others once somebody could help. Costs a load for each part until then.
  void Run(int64_t parts, kernels::LoopBody body) override;
  // Returns the time that others spent on parts since the last call.
  Duration TakeHelped();

 private:
  friend class SharedLoops;
  class Opening;

  struct Part {
    kernels::LoopBody body;
    int64_t number;
  };

  // Takes the next part of the loop that is open, if any.
  std::optional<Part> Take();
  // Runs a part that a helper has taken.
  void Help(const Part& part) MILLRACE_EXCLUDES(mu_);
  std::exception_ptr TakeFailure() MILLRACE_EXCLUDES(mu_);

  SharedLoops& loops_;
  const int worker_;

  // The number of the loop and of its next part. All parts are beyond reach while no loop is open.
  // A thread takes a part by raising it, which fails if the loop is not the one that it saw. The
  // fields below are written only while no loop is open, and are atomic because a late helper may
  // read them all the same.
  alignas(64) std::atomic<uint64_t> next_;
  std::atomic<int64_t> parts_{0};
  std::atomic<const void*> object_{nullptr};
  std::atomic<void (*)(const void*, int64_t)> call_{nullptr};

  alignas(64) std::atomic<int> helped_parts_{0};  // the open loop's parts that others have done
  std::atomic<int64_t> helped_nanoseconds_{0};

  Mutex mu_;
  std::exception_ptr failure_ MILLRACE_GUARDED_BY(mu_);  // the failure of a helper's part
};

// The loops of all workers, and how many of the idle workers may help. Thread-safe. It takes no
// lock where nobody is idle.
class SharedLoops {
 public:
  static constexpr int kMostWorkers = 64;

  // workers <= kMostWorkers. `wake` wakes one of the helpers that sleep; any thread calls it, with
  // no lock held.
  SharedLoops(int workers, Clock& clock, std::function<void()> wake);
  SharedLoops(const SharedLoops&) = delete;
  SharedLoops& operator=(const SharedLoops&) = delete;

  // Returns the loops of a worker, 0 .. workers - 1.
  SharedLoop& of(int worker) {
    MILLRACE_CHECK(worker >= 0 && static_cast<size_t>(worker) < loops_.size(),
                   "the scheduler was told of fewer workers than there are");
    return loops_[static_cast<size_t>(worker)];
  }

  // Tells owners how many idle workers may help, and how many of these sleep. An idle worker that
  // is counted here before it looks at HasOpen misses no loop: it sees the loop, or is woken.
  void SetHelpers(int helpers, int asleep) {
    helpers_.store(helpers, std::memory_order_relaxed);
    asleep_.store(asleep);
  }
  bool HasOpen() const { return open_.load() != 0; }
  // Runs a part of an open loop. Returns false if there is none.
  bool HelpOnce();

 private:
  friend class SharedLoop;

  Clock& clock_;
  const std::function<void()> wake_;
  std::deque<SharedLoop> loops_;
  alignas(64) std::atomic<uint64_t> open_{0};  // a bit for each worker
  alignas(64) std::atomic<int> helpers_{0};
  std::atomic<int> asleep_{0};
};

}  // namespace millrace::server
