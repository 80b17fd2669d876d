#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "models/core/model_info.h"
#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "server/scheduling/job.h"
#include "server/scheduling/model_queue.h"
#include "server/scheduling/shared_loops.h"

namespace millrace::server {

// Names a queue of the Scheduler. A small value.
using QueueId = size_t;

// The bounded queues of all models, and the only place where workers wait for work.
//
// A worker takes a batch of one model. Among the models that are ready (with a full batch, or one
// that has lingered enough) it is the one that has had the least of the workers' time while it had
// work (start-time fair queueing, Goyal et al. 1996), so that a flood on one model leaves the
// others their share. The model's ModelQueue decides which of its requests are next, and which are
// admitted.
//
// Thread-safe; nothing but PopBatch blocks. One mutex guards all queues. It is held for tens of
// nanoseconds a request, and longer only when deadlines are near.
class Scheduler {
 public:
  struct Options {
    size_t default_queue_size = 256;  // waiting jobs of a model whose own policy says 0
    int workers = 1;  // the number of PopBatch callers, for the estimate of waiting time
    // The number of threads that compute at the same time. As long as fewer workers are busy, idle
    // ones help them, see SharedLoops. With 1 nobody does.
    int cores = 1;
  };

  explicit Scheduler(Options options, Clock& clock = Clock::Real());
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  QueueId AddQueue(const models::BatchPolicy& policy) MILLRACE_EXCLUDES(mu_);
  // The queue must be empty.
  void RemoveQueue(QueueId queue) MILLRACE_EXCLUDES(mu_);

  // Keeps the jobs of a queue from the workers, until Release. Jobs are admitted as before, but
  // those that would be late when the model is loaded; they may leave, and expire.
  void HoldQueue(QueueId queue, Hold hold) MILLRACE_EXCLUDES(mu_);
  // Gives the jobs to the workers, in batches as the policy says. Nothing happens if the queue is
  // not held.
  void Release(QueueId queue, const models::BatchPolicy& policy) MILLRACE_EXCLUDES(mu_);
  // Calls Hold::wanted, so that the model is loaded for a job that is still to come. Nothing
  // happens if the queue is not held.
  void Want(QueueId queue) MILLRACE_EXCLUDES(mu_);
  // Takes all jobs out of a queue that is held, because its model will not come; there are none if
  // it is not held.
  std::vector<std::unique_ptr<Job>> TakeHeld(QueueId queue) MILLRACE_EXCLUDES(mu_);

  // Takes the job only when OK is returned. In a full queue, the place of another job may be given
  // to it (ModelQueue::MakeRoomFor), which then ends with RESOURCE_EXHAUSTED. RESOURCE_EXHAUSTED
  // means that the queue is full, or that at the present pace the job, or others that were admitted
  // before, would miss their deadlines; the status then carries a retry hint (RetryHint).
  // UNAVAILABLE once closed.
  absl::Status Submit(std::unique_ptr<Job>& job) MILLRACE_EXCLUDES(mu_);
  // Puts an admitted job back for its next step. It is never refused for size; once closed the job
  // ends with UNAVAILABLE. A caller that calls PopBatch next wakes no other worker: there it takes
  // the job itself, or wakes a worker for what it leaves.
  enum class Wake : uint8_t { kWorker, kNobody };
  void Requeue(std::unique_ptr<Job> job, Wake wake = Wake::kWorker) MILLRACE_EXCLUDES(mu_);
  // Adds a job of a request that another model has served so far. It is never refused for size, but
  // it waits for its turn as newcomers do.
  void Enter(std::unique_ptr<Job> job) MILLRACE_EXCLUDES(mu_);
  // Takes the waiting job of this reply out again because its caller left. Null when it does not
  // wait: it runs, is parked or has ended.
  std::unique_ptr<Job> Remove(QueueId queue, const Reply& reply) MILLRACE_EXCLUDES(mu_);

  using Popped = server::Popped;
  // Waits for work, and meanwhile runs parts of other workers' loops. Returns false once closed and
  // empty. Both vectors are cleared first; one of them is not empty when it returns true.
  bool PopBatch(Popped& popped) MILLRACE_EXCLUDES(mu_);
  // Ends the step of a batch after `took`, before any of its jobs ends or comes back: counts that
  // time as their service, and learns from their forecasts.
  void EndStep(const std::vector<std::unique_ptr<Job>>& batch, Duration took)
      MILLRACE_EXCLUDES(mu_);
  using StepReport = server::StepReport;
  // Reports a step for the models' shares and the pace of their work, once its jobs have ended or
  // are back.
  void ReportStep(QueueId queue, const StepReport& step) MILLRACE_EXCLUDES(mu_);

  // Takes out the jobs whose deadline has passed. Workers drop them too, but only once they are
  // free, so this is called every second or so. It looks at each waiting job.
  std::vector<std::unique_ptr<Job>> TakeExpired() MILLRACE_EXCLUDES(mu_);

  // Refuses further jobs and returns those that wait; PopBatch returns false from now on.
  // Idempotent.
  std::vector<std::unique_ptr<Job>> Close() MILLRACE_EXCLUDES(mu_);

  // Returns the loops of a worker, 0 .. workers - 1.
  SharedLoop& loops(int worker) { return loops_.of(worker); }

  // Returns the seconds of workers that each key has had, by FairShare::key, over all models.
  std::vector<double> key_seconds() const MILLRACE_EXCLUDES(mu_);
  size_t depth(QueueId queue) const MILLRACE_EXCLUDES(mu_);
  // The load of a queue at one moment.
  struct QueueLoad {
    size_t depth = 0;          // waiting jobs
    Duration oldest{};         // for how long the first of them has waited
    double expected_wait = 0;  // ModelQueue::ExpectedWait
  };
  QueueLoad load(QueueId queue) const MILLRACE_EXCLUDES(mu_);
  size_t capacity(QueueId queue) const MILLRACE_EXCLUDES(mu_);
  // The use of a queue.
  struct QueueUse {
    bool busy = false;      // jobs wait or run; parked ones do not count
    TimePoint last_used{};  // when a job last entered it or ended a step, or when it was added
  };
  QueueUse use(QueueId queue) const MILLRACE_EXCLUDES(mu_);

 private:
  // Returns the workers that a queue can count on while other queues want theirs.
  double WorkersFor(const ModelQueue& queue, TimePoint now) const MILLRACE_REQUIRES(mu_);
  // Ends a job that gave its place to one of another key.
  static void Displace(std::unique_ptr<Job> job);
  void PutBack(std::unique_ptr<Job> job, void (ModelQueue::*push)(std::unique_ptr<Job>), Wake whom)
      MILLRACE_EXCLUDES(mu_);
  void Push(ModelQueue& queue, void (ModelQueue::*push)(std::unique_ptr<Job>),
            std::unique_ptr<Job> job) MILLRACE_REQUIRES(mu_);
  // Returns the ready queue that was served least, or null; then next_ready is when one will be
  // ready (max: not by itself).
  ModelQueue* PickReady(TimePoint now, TimePoint& next_ready) MILLRACE_REQUIRES(mu_);
  // Returns true when the caller should notify one waiting worker, after unlocking.
  bool ShouldWake() MILLRACE_REQUIRES(mu_);
  // Calls helpers back to the queues, after their part. Returns what ShouldWake does.
  bool CallWorker() MILLRACE_REQUIRES(mu_);
  void Recall() MILLRACE_REQUIRES(mu_);
  // Runs parts of loops until `end`, or until recalls_ is no longer `recalls`, or until there have
  // been none for a while.
  void HelpUntil(uint32_t recalls, TimePoint end) MILLRACE_EXCLUDES(mu_);
  // Wakes an idle worker for a loop that was opened.
  void WakeHelper() MILLRACE_EXCLUDES(mu_);
  // Returns how many of the idle workers may help, so that no more threads compute than there are
  // cores.
  int MostHelpers() const MILLRACE_REQUIRES(mu_);
  // Tells the owners of loops who is idle. Calls helpers back that are too many.
  void CountHelpers() MILLRACE_REQUIRES(mu_);

  const Options options_;
  Clock& clock_;

  mutable Mutex mu_;
  CondVar work_;
  std::deque<ModelQueue> queues_ MILLRACE_GUARDED_BY(mu_);
  Duration served_ MILLRACE_GUARDED_BY(mu_){};  // ModelQueue::served of the queue last taken from
  size_t total_ MILLRACE_GUARDED_BY(mu_) = 0;   // jobs in all queues
  int idle_ MILLRACE_GUARDED_BY(mu_) = 0;       // workers in PopBatch's wait
  int helping_ MILLRACE_GUARDED_BY(mu_) = 0;    // workers in PopBatch that run parts of loops
  bool wake_pending_ MILLRACE_GUARDED_BY(mu_) =
      false;  // a worker was notified and has not yet looked
  bool help_wanted_ MILLRACE_GUARDED_BY(mu_) = false;  // it was notified for a loop
  bool closed_ MILLRACE_GUARDED_BY(mu_) = false;
  std::vector<double> key_seconds_ MILLRACE_GUARDED_BY(mu_);

  SharedLoops loops_;
  // Counts the reasons for which helpers must look at the queues. Written under mu_.
  std::atomic<uint32_t> recalls_{0};
};

}  // namespace millrace::server
