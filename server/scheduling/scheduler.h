#pragma once

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

namespace millrace::server {

// Names a queue of the Scheduler. A small value.
using QueueId = size_t;

// The bounded queues of all models, and the one place where workers wait for work.
//
// A worker takes a batch of one model. Among those that are ready (full batch, or lingered enough)
// it is the model that has had the least of the workers' time while it had work (start-time fair
// queueing, Goyal et al. 1996), so that a flood on one model leaves the others their share.
//
// Within a model, requests take turns: long ones come back by Requeue after each step, at the end
// of the line, so that short ones are not held up. Only so many may be under way at once, though,
// and the next begins when one of them ends: under overload what was started is finished, rather
// than that hundreds progress together towards deadlines they all miss. Requests that have had
// kLong of service no longer count, so that long ones never keep short ones from beginning.
//
// Thread-safe; nothing but PopBatch blocks. One mutex guards all queues: it is held for tens of
// nanoseconds a request.
class Scheduler {
 public:
  // Service after which a request is a long one.
  static constexpr Duration kLong = std::chrono::seconds(2);
  // Requests that may be under way at once, for each place in the batches of all workers; of models
  // with continuous batches 1.
  static constexpr size_t kUnderWayPerPlace = 4;

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
  // with UNAVAILABLE. A caller who comes to PopBatch next wakes no other worker: there it takes the
  // job itself, or wakes one for what it leaves.
  enum class Wake : uint8_t { kWorker, kNobody };
  void Requeue(std::unique_ptr<Job> job, Wake wake = Wake::kWorker) MILLRACE_EXCLUDES(mu_);
  // Puts in a job of a request that another model has served so far: never refused for size, but it
  // waits for its turn as newcomers do.
  void Enter(std::unique_ptr<Job> job) MILLRACE_EXCLUDES(mu_);
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
  // What a worker did in one step, for the models' shares and the estimate of waiting time.
  struct StepReport {
    size_t jobs = 0;
    Duration took{};
    size_t finished = 0;       // jobs that ended OK with this step
    Duration finished_work{};  // Job::work of those
  };
  void ReportStep(QueueId queue, const StepReport& step) MILLRACE_EXCLUDES(mu_);
  // For a job that is about to be finished after a step: how long it took, against its forecast.
  // Does nothing for one that failed or goes on.
  void ReportEnd(const Job& job) MILLRACE_EXCLUDES(mu_);

  // Takes out the jobs whose deadline has passed. Workers drop them too, but only once they are
  // free; called every second or so. Costs a look at each waiting job.
  std::vector<std::unique_ptr<Job>> TakeExpired() MILLRACE_EXCLUDES(mu_);

  // Refuses further jobs and returns those that wait; PopBatch returns false from now on.
  // Idempotent.
  std::vector<std::unique_ptr<Job>> Close() MILLRACE_EXCLUDES(mu_);

  size_t depth(QueueId queue) const MILLRACE_EXCLUDES(mu_);
  size_t capacity(QueueId queue) const MILLRACE_EXCLUDES(mu_);

 private:
  using Line = std::deque<std::unique_ptr<Job>>;

  struct Queue {
    models::BatchPolicy policy;
    size_t capacity = 0;
    bool in_use = false;
    // Both by `enqueued`.
    Line fresh;                // that have not begun
    Line started;              // that come back for another step
    size_t running = 0;        // handed out, their step not yet reported
    size_t short_started = 0;  // of `started`, those with less than kLong
    Duration served{};         // the workers' time that it has had or, being empty, gave away
    // Moving averages; 0: not known yet.
    double seconds_per_step = 0;
    double seconds_per_job = 0;      // a step's time over its jobs
    double seconds_per_request = 0;  // Job::work of a finished one
    ForecastMargin margin;

    size_t size() const { return fresh.size() + started.size(); }
    bool empty() const { return fresh.empty() && started.empty(); }
  };

  // Of a queue's short requests.
  size_t UnderWayLimit(const Queue& queue) const;
  // How many jobs one worker takes.
  size_t BatchSize(const Queue& queue) const;
  // When a job that came now would begin and how long it would then take to be served, in seconds
  // at the present pace.
  struct Forecast {
    double wait = 0;
    double service = 0;
    // Whether others must end before it begins. For those that find a place the forecast is of
    // their first step: it is not held against them how long requests take, nor measured how far it
    // is off.
    bool behind = false;
  };
  Forecast Predict(const Queue& queue) const;
  // From a job that leaves its line without having ended.
  static void LearnFromLeaving(Queue& queue, const Job& job, TimePoint now);
  // The line of the queue, which is not empty, that the next job comes from.
  Line& NextLine(Queue& queue) const;
  void PutBack(std::unique_ptr<Job> job, Line Queue::*line, Wake whom) MILLRACE_EXCLUDES(mu_);
  void Push(Queue& queue, Line& line, std::unique_ptr<Job> job) MILLRACE_REQUIRES(mu_);
  // Takes the job there out of its line.
  std::unique_ptr<Job> Take(Queue& queue, Line& line, Line::iterator at) MILLRACE_REQUIRES(mu_);
  // The ready queue that was served least, or null; then next_ready says when one will be (max: not
  // by itself).
  Queue* PickReady(TimePoint now, TimePoint& next_ready) MILLRACE_REQUIRES(mu_);
  // True when the caller should notify one waiting worker, after unlocking.
  bool ShouldWake() MILLRACE_REQUIRES(mu_);

  const Options options_;
  Clock& clock_;

  mutable Mutex mu_;
  CondVar work_;
  std::deque<Queue> queues_ MILLRACE_GUARDED_BY(mu_);
  Duration served_ MILLRACE_GUARDED_BY(mu_){};  // Queue::served of the queue last taken from
  size_t total_ MILLRACE_GUARDED_BY(mu_) = 0;   // jobs in all queues
  int idle_ MILLRACE_GUARDED_BY(mu_) = 0;       // workers in PopBatch's wait
  bool wake_pending_ MILLRACE_GUARDED_BY(mu_) =
      false;  // a worker was notified and has not yet looked
  bool closed_ MILLRACE_GUARDED_BY(mu_) = false;
};

}  // namespace millrace::server
