#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "models/core/model_info.h"
#include "mps_runtime/base/clock.h"
#include "server/scheduling/deadline_load.h"
#include "server/scheduling/forecast_margin.h"
#include "server/scheduling/job.h"
#include "server/scheduling/pace.h"

namespace millrace::server {

// What a worker takes from a queue.
struct Popped {
  std::vector<std::unique_ptr<Job>> batch;  // 1..max_batch jobs of one model
  // That need no worker: cancelled, expired, or with an outcome, as what was to begin and cannot be
  // done in time any more.
  std::vector<std::unique_ptr<Job>> dropped;
};

// What a worker did in one step.
struct StepReport {
  size_t jobs = 0;
  Duration took{};
  double work = 0;   // that was done, of all the jobs (Request::TakeWorkDone)
  size_t quick = 0;  // of the jobs, those that are (Job::quick)
  // False when all the jobs failed or were to stop: what they cost says nothing of others.
  bool tells_pace = true;
};

// The requests of one model that wait, and which of them are next; which newcomers are let in.
//
// Requests take turns: those that need another step come back to the end of the line, so that short
// ones are not held up. Only so many may be under way at once, though, and the next begins when one
// of them ends. Requests that had kLong of service do not count, and those much shorter than the
// others need not wait for them: long ones never keep short ones from beginning.
//
// The work that is left of each request is known, and from the last steps how long it takes. A
// newcomer is let in when its own would be done by its deadline, and what was let in before still
// would. While work would be late if all took turns, whose deadline is first goes first instead.
//
// Not thread-safe. `workers` is how many the model can count on, of all that there are.
class ModelQueue {
 public:
  // Service after which a request is a long one.
  static constexpr Duration kLong = std::chrono::seconds(2);
  // Requests that may be under way at once, for each place in the batches of all workers; of models
  // with continuous batches 1.
  static constexpr size_t kUnderWayPerPlace = 4;
  // A newcomer much shorter than the others has at most this part of their work on average.
  static constexpr double kMuchShorter = 1.0 / 8;

  ModelQueue() = default;  // not in use
  // all_workers >= 1; capacity of the jobs that wait.
  ModelQueue(const models::BatchPolicy& policy, size_t capacity, size_t all_workers);

  bool in_use() const { return all_workers_ != 0; }
  size_t capacity() const { return capacity_; }
  size_t size() const { return fresh_.size() + quick_.size() + started_.size(); }
  bool empty() const { return size() == 0; }
  bool busy() const { return !empty() || running_ != 0; }

  // OK, or RESOURCE_EXHAUSTED with a retry hint for a job that came now, when the queue is full or
  // the job or others would be late for their deadlines. Sets the job's forecast.
  absl::Status Admit(Job& job, TimePoint now, double workers);
  // Puts in a job that has not begun, or one that comes back for another step.
  void PushFresh(std::unique_ptr<Job> job);
  void PushStarted(std::unique_ptr<Job> job);

  // When the job came that is next. Not of an empty queue.
  TimePoint next_since() const { return NextLine().front()->enqueued; }
  // Whether there is a full batch, or one that has lingered; else `ready` is when there will be.
  bool IsReady(TimePoint now, TimePoint& ready) const;
  // Takes the next batch. Not from an empty queue.
  void TakeBatch(TimePoint now, double workers, Popped& popped);
  // Of a batch whose step is over, before any of its jobs ends or comes back.
  void EndStep(const std::vector<std::unique_ptr<Job>>& batch, Duration took, TimePoint now);
  // What a worker did in a step, once its jobs are back or gone.
  void ReportStep(const StepReport& step, TimePoint now);

  // Takes out the job of this reply; null when it does not wait here.
  std::unique_ptr<Job> Remove(const Reply& reply, TimePoint now);
  void TakeExpired(TimePoint now, std::vector<std::unique_ptr<Job>>& expired);
  void TakeAll(std::vector<std::unique_ptr<Job>>& all);

  // In workers: 1 is one worker all the time.
  double recent_use(TimePoint now) const { return use_.workers(now); }

  Duration served{};  // the workers' time that it has had or, being empty, gave away

 private:
  using Line = std::deque<std::unique_ptr<Job>>;

  // Work of a job that runs.
  struct Running {
    TimePoint deadline;
    double work = 0;
  };
  // Requests that all workers serve at once.
  size_t AtOnce() const;
  size_t UnderWayLimit() const;
  size_t BatchSize() const;
  size_t requests() const { return size() + running_; }
  // What is left of a job, as far as is known.
  double WorkOf(const Job& job) const {
    return job.request.work_left() * (job.service.count() == 0 ? correction_.factor() : 1);
  }
  // What is left of all jobs here and running.
  double AllWork() const { return begun_work_ + correction_.factor() * new_work_; }
  // Of the workers, those that much shorter requests leave to the others.
  double LeftByQuick(double workers, TimePoint now) const;
  // Seconds that the workers take together for so much work.
  double SecondsFor(double work, double workers) const { return work * pace_.seconds() / workers; }

  // Whether the next job may come from that line of those that have not begun.
  bool MayBeginFresh() const;
  bool MayBeginQuick() const;
  const Line& NextLine() const;
  Line& NextLine() { return const_cast<Line&>(std::as_const(*this).NextLine()); }

  void Push(Line& line, std::unique_ptr<Job> job);
  // Of a job that comes into a line, or leaves it.
  void Count(const Job& job, double sign);
  void Uncount(const Line& line, const Job& job);
  std::unique_ptr<Job> TakeFront(Line& line);
  // Hands it out, to the batch or, cancelled or late, to those that need no worker. Whether it is
  // in the batch.
  bool HandOut(std::unique_ptr<Job> job, TimePoint now, Popped& popped);
  void TakeInTurn(size_t most, TimePoint now, Popped& popped);
  void TakeByDeadline(size_t most, TimePoint now, double workers, Popped& popped);
  void StopRunning(Job& job);
  void LearnFromLeaving(const Job& job, TimePoint now);

  // Seconds that a request takes for so much work once it has begun and goes on.
  double SecondsAlone(double work) const;
  // Seconds before a deadline by which its work should be done.
  double Reserve() const;
  // Whether everything would be done before the first deadline even if it took `stretch` as long.
  bool HasTimeFor(double more_work, double stretch, TimePoint now, double workers) const;
  // Makes load_ anew if much has changed since.
  void RefreshLoad(TimePoint now, double workers);
  // Whether work would be late if requests took turns.
  bool IsPressed(TimePoint now, double workers);
  // Takes out those that have not begun, the last first, until what is left can be done in time.
  void RefuseExcess(double workers, Popped& popped);
  // Whether so much work is much shorter than what others have left.
  bool IsQuick(double work) const;

  models::BatchPolicy policy_;
  size_t capacity_ = 0;
  size_t all_workers_ = 0;

  // All by `enqueued`.
  Line fresh_;                // that have not begun
  Line quick_;                // nor these, much shorter than the others when they came
  Line started_;              // that come back for another step
  size_t running_ = 0;        // handed out, their step not yet reported
  size_t short_started_ = 0;  // of started_, those with less than kLong
  // Work left, of all jobs here and running: of those that have had a step, and of the others as it
  // was judged.
  double begun_work_ = 0;
  double new_work_ = 0;
  double squares_ = 0;  // the sum of each one's square
  std::vector<Running> running_work_;
  std::vector<size_t> free_places_;  // in running_work_

  Pace pace_;
  Correction correction_;
  RecentUse use_;
  RecentUse quick_use_;  // of it, by much shorter requests
  ForecastMargin margin_;

  DeadlineLoad load_;
  size_t changes_ = 0;                     // since load_ was made
  double added_ = 0;                       // work that newcomers brought since then
  TimePoint earliest_ = TimePoint::max();  // no deadline is before
  size_t pressed_turns_ = 0;
};

}  // namespace millrace::server
