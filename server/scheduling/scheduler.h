#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "models/core/model_info.h"
#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "server/scheduling/job.h"

namespace millrace::server {

// Names a queue of the Scheduler. A small value.
using QueueId = size_t;

// The bounded queues of all models, and the one place where workers wait for work.
//
// A worker takes a batch of one model: the model whose oldest job has waited longest among those
// that are ready (full batch, or lingered enough). Long requests come back by Requeue after each
// step, at the end of their queue, so that short ones are not held up. Thread-safe; nothing but
// PopBatch blocks. One mutex guards all queues: it is held for tens of nanoseconds a request.
class Scheduler {
 public:
  struct Options {
    size_t default_queue_size = 256;  // waiting jobs of a model whose own policy says 0
    int workers = 1;  // how many PopBatch callers there are, for the estimate of waiting time
  };

  explicit Scheduler(Options options, Clock& clock = Clock::Real())
      : options_(options), clock_(clock) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  QueueId AddQueue(const models::BatchPolicy& policy) MILLRACE_EXCLUDES(mu_);
  // The queue must be empty.
  void RemoveQueue(QueueId queue) MILLRACE_EXCLUDES(mu_);

  // Takes the job only when OK is returned. RESOURCE_EXHAUSTED when the queue is full, or when at
  // the present pace the job's deadline would pass before its turn; the status then carries a retry
  // hint (RetryHint). UNAVAILABLE once closed.
  absl::Status Submit(std::unique_ptr<Job>& job) MILLRACE_EXCLUDES(mu_);
  // Puts an admitted job back for its next step. Never refused for size; once closed the job ends
  // with UNAVAILABLE.
  void Requeue(std::unique_ptr<Job> job) MILLRACE_EXCLUDES(mu_);
  // Takes the waiting job of this reply out again (its caller left). Null when it does not wait: it
  // runs, is parked or has ended.
  std::unique_ptr<Job> Remove(QueueId queue, const Reply& reply) MILLRACE_EXCLUDES(mu_);

  struct Popped {
    std::vector<std::unique_ptr<Job>> batch;    // 1..max_batch jobs of one model
    std::vector<std::unique_ptr<Job>> dropped;  // cancelled or expired while they waited
  };
  // Waits for work. False once closed and empty. Both vectors are cleared first; one of them is not
  // empty on true.
  bool PopBatch(Popped& popped) MILLRACE_EXCLUDES(mu_);
  // What a step of `jobs` jobs took on a worker, for the estimate of waiting time.
  void ReportStep(QueueId queue, size_t jobs, Duration took) MILLRACE_EXCLUDES(mu_);

  // Takes out the jobs whose deadline has passed. Workers drop them too, but only once they are
  // free; called every second or so. Costs a look at each waiting job.
  std::vector<std::unique_ptr<Job>> TakeExpired() MILLRACE_EXCLUDES(mu_);

  // Refuses further jobs and returns those that wait; PopBatch returns false from now on.
  // Idempotent.
  std::vector<std::unique_ptr<Job>> Close() MILLRACE_EXCLUDES(mu_);

  size_t depth(QueueId queue) const MILLRACE_EXCLUDES(mu_);
  size_t capacity(QueueId queue) const MILLRACE_EXCLUDES(mu_);

 private:
  struct Queue {
    models::BatchPolicy policy;
    size_t capacity = 0;
    bool in_use = false;
    std::deque<std::unique_ptr<Job>> jobs;
    double seconds_per_job = 0;  // moving average of a step's time over its jobs; 0: not known yet
    double seconds_per_step = 0;
  };

  void Push(Queue& queue, std::unique_ptr<Job> job) MILLRACE_REQUIRES(mu_);
  // The ready queue with the longest wait, or null; then next_ready says when one will be (max: not
  // by itself).
  Queue* PickReady(TimePoint now, TimePoint& next_ready) MILLRACE_REQUIRES(mu_);
  // True when the caller should notify one waiting worker, after unlocking.
  bool ShouldWake() MILLRACE_REQUIRES(mu_);

  const Options options_;
  Clock& clock_;

  mutable Mutex mu_;
  CondVar work_;
  std::deque<Queue> queues_ MILLRACE_GUARDED_BY(mu_);
  size_t total_ MILLRACE_GUARDED_BY(mu_) = 0;  // jobs in all queues
  int idle_ MILLRACE_GUARDED_BY(mu_) = 0;      // workers in PopBatch's wait
  bool wake_pending_ MILLRACE_GUARDED_BY(mu_) =
      false;  // a worker was notified and has not yet looked
  bool closed_ MILLRACE_GUARDED_BY(mu_) = false;
};

}  // namespace millrace::server
