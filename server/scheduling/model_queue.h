#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "models/core/model_info.h"
#include "mps_runtime/base/clock.h"
#include "server/scheduling/deadline_load.h"
#include "server/scheduling/forecast_margin.h"
#include "server/scheduling/job.h"
#include "server/scheduling/key_turns.h"
#include "server/scheduling/pace.h"

namespace millrace::server {

// The jobs that a worker takes from a queue.
struct Popped {
  std::vector<std::unique_ptr<Job>> batch;  // 1..max_batch jobs of one model
  // Jobs that need no worker: cancelled, expired, or with an outcome, such as one that had not
  // begun and can no longer be done in time.
  std::vector<std::unique_ptr<Job>> dropped;
};

// Reports what a worker did in one step.
struct StepReport {
  size_t jobs = 0;
  Duration took{};
  double work = 0;   // the work done for all the jobs (Request::TakeWorkDone)
  size_t quick = 0;  // the number of quick jobs among them (Job::quick)
  // False when all the jobs failed or were to stop, because their cost then says nothing about
  // others.
  bool tells_pace = true;
};

// Keeps the jobs of a queue from the workers while their model is not in memory.
struct Hold {
  // The job for which a model is wanted: it may leave, or comes again later.
  enum class Job : uint8_t { kWaits, kWasRefused };
  // Asks for the model: called on any thread, without a lock, after each job that entered the queue
  // or was refused.
  std::function<void(Job)> wanted;
  // The time that loading the model is expected to take; zero if it is not known.
  Duration load_time{};
};

// The waiting requests of one model. It decides which of them are next, and which newcomers are
// admitted.
//
// Requests take turns: those that need another step return to the end of the line, so that short
// ones are not held up. The number under way at once is bounded, though, and the next begins when
// one of them ends. Requests that had kLong of service do not count, and those much shorter than
// the others need not wait for them: long ones never keep short ones from beginning.
//
// The work that is left of each request is known, and the time of a unit of work is learnt from the
// last steps. A newcomer is admitted if its own work would be done by its deadline, and the work
// that was admitted before still would. While work would be late if all took turns, the earliest
// deadline goes first instead.
//
// Where jobs of several keys wait, it is decided first whose turn it is (KeyTurns), and these rules
// hold among the jobs of each key. A key with less than its share of the work is admitted without
// regard to what others have waiting: those give way.
//
// Not thread-safe. `workers` is the number of workers that the model can count on, of all that
// there are.
class ModelQueue {
 public:
  // Service after which a request is a long one.
  static constexpr Duration kLong = std::chrono::seconds(2);
  // Requests that may be under way at once, for each place in the batches of all workers. For
  // models with continuous batches it is 1.
  static constexpr size_t kUnderWayPerPlace = 4;
  // A newcomer much shorter than the others has at most this part of their work on average.
  static constexpr double kMuchShorter = 1.0 / 8;

  ModelQueue() = default;  // a queue that is not in use
  // all_workers >= 1; `capacity` bounds the jobs that wait.
  ModelQueue(const models::BatchPolicy& policy, size_t capacity, size_t all_workers);

  bool in_use() const { return all_workers_ != 0; }
  size_t capacity() const { return capacity_; }
  size_t size() const { return fresh_.size() + quick_.size() + started_.size(); }
  bool empty() const { return size() == 0; }
  bool busy() const { return !empty() || running_ != 0; }

  // Gives no jobs to workers until Release.
  void SetHold(Hold hold) { hold_ = std::move(hold); }
  // Ends the hold. The policy is that of the model that has been loaded.
  void Release(const models::BatchPolicy& policy);
  bool held() const { return hold_.has_value(); }
  // Counts the time of loading from now on if it is not counted yet. Returns Hold::wanted. The
  // queue must be held.
  std::function<void(Hold::Job)> Want(TimePoint now);
  // Declares that the model that was wanted will not come.
  void GiveUp() { wanted_at_.reset(); }

  // Records that the queue was used at this time; returns the last one.
  void Touch(TimePoint now) { last_used_ = std::max(last_used_, now); }
  TimePoint last_used() const { return last_used_; }

  // Returns OK, or RESOURCE_EXHAUSTED with a retry hint for a job that arrived now, when the queue
  // is full or when the job or others would miss their deadlines. INVALID_ARGUMENT if the job would
  // miss its own whenever it came. Sets the job's forecast.
  absl::Status Admit(Job& job, TimePoint now, double workers);
  // Takes a job that has not begun out of a full queue for a newcomer that was admitted: the last
  // of the key that has the most for its weight, if that is more than the newcomer's key would
  // have. Null: the queue is not full, or there is none.
  std::unique_ptr<Job> MakeRoomFor(const Job& newcomer);
  // Puts in a job that has not begun, or one that comes back for another step.
  void PushFresh(std::unique_ptr<Job> job);
  void PushStarted(std::unique_ptr<Job> job);

  // Returns the time at which the next job entered the queue. The queue must not be empty.
  TimePoint next_since() const { return NextLine().front()->enqueued; }
  // Returns true if there is a full batch, or one that has lingered; otherwise sets `ready` to the
  // time at which there will be one.
  bool IsReady(TimePoint now, TimePoint& ready) const;
  // Takes the next batch. The queue must not be empty.
  void TakeBatch(TimePoint now, double workers, Popped& popped);
  // Ends the step of a batch, before any of its jobs ends or comes back.
  void EndStep(const std::vector<std::unique_ptr<Job>>& batch, Duration took, TimePoint now);
  // Reports what a worker did in a step, once its jobs are back or gone.
  void ReportStep(const StepReport& step, TimePoint now);

  // Takes out the job of this reply; null if it does not wait here.
  std::unique_ptr<Job> Remove(const Reply& reply, TimePoint now);
  void TakeExpired(TimePoint now, std::vector<std::unique_ptr<Job>>& expired);
  void TakeAll(std::vector<std::unique_ptr<Job>>& all);

  // Returns for how long the job that entered the queue first has waited; zero if it is empty.
  Duration OldestWait(TimePoint now) const;
  // Returns the forecast of the seconds that a newcomer would wait before it begins, by which Admit
  // decides: 0 until the pace is known. For a model that is being loaded it is what loading still
  // takes; it is 0 while nobody wants the model.
  double ExpectedWait(TimePoint now, double workers) const;

  // Returns the recent use in workers: 1 is one worker all the time.
  double recent_use(TimePoint now) const { return use_.workers(now); }

  Duration served{};  // the workers' time that it has had or, being empty, gave away

 private:
  using Line = std::deque<std::unique_ptr<Job>>;

  // The outstanding work of a running job.
  struct Running {
    TimePoint deadline;
    double work = 0;
    double due_work = 0;
    FairShare share = {};
    bool runs = true;  // false: the place is free
  };
  // A job that waits.
  struct Place {
    Line* line;
    size_t index;
  };
  // Returns the number of requests that all workers serve at once.
  size_t AtOnce() const;
  size_t UnderWayLimit() const;
  size_t BatchSize() const;
  size_t requests() const { return size() + running_; }
  // Returns the work that is left of a job, as far as it is known.
  double WorkOf(const Job& job) const {
    return job.request.work_left() * (job.service.count() == 0 ? correction_.factor() : 1);
  }
  // Returns true if the job would be done by its deadline if it were alone.
  bool HasTimeAlone(const Job& job, TimePoint now) const;
  // Returns how much of it is due by the job's deadline: all, but a part of a streamed request that
  // goes on behind its deadline.
  double DueWorkOf(const Job& job, TimePoint now) const;
  // Returns the work that is left of all jobs, waiting and running.
  double AllWork() const { return begun_work_ + correction_.factor() * new_work_; }
  // Returns the workers that much shorter requests leave to the others.
  double LeftByQuick(double workers, TimePoint now) const;
  // Returns the seconds that a newcomer waits if it begins once this part of the work of all others
  // is done. It begins at once while there are fewer requests than workers.
  double WaitForOthers(double workers, double part = 1) const {
    return requests() < all_workers_ ? 0 : SecondsFor(part * AllWork(), workers);
  }
  // Returns the seconds that all workers together take for this much work.
  double SecondsFor(double work, double workers) const { return work * pace_.seconds() / workers; }

  // Returns true if the next job may come from this line of jobs that have not begun.
  bool MayBeginFresh() const;
  bool MayBeginQuick() const;
  const Line& NextLine() const;
  Line& NextLine() { return const_cast<Line&>(std::as_const(*this).NextLine()); }

  void Push(Line& line, std::unique_ptr<Job> job);
  // Updates the sums for a job that enters or leaves a line.
  void Count(const Job& job, double sign);
  void Uncount(const Line& line, const Job& job);
  std::unique_ptr<Job> TakeFront(Line& line);
  // Hands a job out: to the batch or, if it is cancelled or late, to those that need no worker.
  // Returns true if it is in the batch.
  bool HandOut(std::unique_ptr<Job> job, TimePoint now, Popped& popped);
  void TakeInTurn(size_t most, TimePoint now, Popped& popped);
  // The same for jobs of several keys.
  void TakeByKey(size_t most, TimePoint now, Popped& popped);
  std::optional<Place> FindToDisplace(const Job& newcomer);
  // Charges the keys of a batch for its step, each job by the work that was done for it.
  void ChargeKeys(const std::vector<std::unique_ptr<Job>>& batch, Duration took);
  void TakeByDeadline(size_t most, TimePoint now, double workers, Popped& popped);
  void StopRunning(Job& job);
  // Returns false if this much work would surely not be done by `end` if it were alone.
  bool MayFit(double work, TimePoint end, TimePoint now) const;
  // Returns the error of a job that would be late whenever it came, which names the length that
  // fits; else OK.
  absl::Status CheckLength(const Job& job, TimePoint now) const;
  // Admits a job while the queue is held.
  absl::Status AdmitHeld(Job& job, TimePoint now) const;
  // Returns the time that loading the model still takes. The queue must be held.
  Duration LoadTimeLeft(TimePoint now) const;
  void LearnFromLeaving(const Job& job, TimePoint now);

  // Returns the seconds that a request takes for this much work once it has begun and is not
  // interrupted.
  double SecondsAlone(double work) const;
  // Returns the seconds before a deadline by which its work should be done.
  double Reserve() const;
  // Returns true if everything would be done before the earliest deadline even if it took `stretch`
  // times as long.
  bool HasTimeFor(double more_work, double stretch, TimePoint now, double workers) const;
  // Computes load_ again if much has changed since the last time.
  void RefreshLoad(TimePoint now, double workers);
  // Returns true if work would be late if requests took turns.
  bool IsPressed(TimePoint now, double workers);
  // Refuses jobs that have not begun, the last first, until the remaining work can be done in time.
  void RefuseExcess(TimePoint now, double workers, Popped& popped);
  // Returns true if this much work is much shorter than what others have left.
  bool IsQuick(double work) const;

  models::BatchPolicy policy_;
  size_t capacity_ = 0;
  size_t all_workers_ = 0;
  std::optional<Hold> hold_;
  std::optional<TimePoint> wanted_at_;  // when the first job asked for the model that is not loaded
  TimePoint last_used_{};

  // All lines are sorted by `enqueued`.
  Line fresh_;          // jobs that have not begun
  Line quick_;          // jobs that have not begun, much shorter than the others when they came
  Line started_;        // jobs that come back for another step
  size_t running_ = 0;  // handed out, with their step not yet reported
  size_t short_started_ = 0;  // jobs in started_ with less service than kLong
  // Work left of all jobs, waiting and running: of those that have had a step, and of the others as
  // it was estimated.
  double begun_work_ = 0;
  double new_work_ = 0;
  double squares_ = 0;  // the sum of their squares
  std::vector<Running> running_work_;
  std::vector<size_t> free_places_;  // free indices of running_work_

  KeyTurns keys_;
  Pace pace_;
  Correction correction_;
  RecentUse use_;
  RecentUse quick_use_;  // the part of it by much shorter requests
  ForecastMargin margin_;

  DeadlineLoad load_;
  size_t changes_ = 0;                     // changes since load_ was computed
  double added_ = 0;                       // work that newcomers have brought since then
  TimePoint earliest_ = TimePoint::max();  // no job has an earlier deadline
  size_t pressed_turns_ = 0;
};

}  // namespace millrace::server
