#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "models/core/model_info.h"
#include "mps_runtime/base/clock.h"
#include "server/scheduling/admission_forecast.h"
#include "server/scheduling/job.h"
#include "server/scheduling/job_lines.h"
#include "server/scheduling/key_turns.h"
#include "server/scheduling/model_hold.h"

namespace millrace::server {

// The jobs that a worker takes from a queue.
struct Popped {
  std::vector<std::unique_ptr<Job>> batch;  // 1..max_batch jobs of one model
  // Jobs that need no worker: cancelled, expired, or with an outcome, such as one that had not
  // begun and can no longer be done in time.
  std::vector<std::unique_ptr<Job>> dropped;
};

// The waiting requests of one model. It decides which of them are next. Its parts are the JobLines
// in which they wait, the AdmissionForecast, which decides what newcomers are admitted, and the
// ModelHold while the model is not in memory.
//
// Requests take turns: those that need another step return to the end of the line, so that short
// ones are not held up. The number under way at once is bounded, though, and the next begins when
// one of them ends. Requests that had kLong of service do not count, and those much shorter than
// the others need not wait for them: long ones never keep short ones from beginning. While work
// would be late if all took turns, the earliest deadline goes first instead.
//
// A batch has only jobs whose states are in one place, and others that have none yet.
//
// Where jobs of several keys wait, it is decided first whose turn it is (KeyTurns), and these rules
// hold among the jobs of each key. A key with less than its share of the work is admitted without
// regard to what others have waiting: those give way.
//
// Not thread-safe. `workers` is the number of workers that the model can count on, of all that
// there are.
class ModelQueue {
 public:
  static constexpr Duration kLong = JobLines::kLong;
  // Requests that may be under way at once, for each place in the batches of all workers. For
  // models with continuous batches it is 1.
  static constexpr size_t kUnderWayPerPlace = 4;

  ModelQueue() = default;  // a queue that is not in use
  // all_workers >= 1; `capacity` bounds the jobs that wait.
  ModelQueue(const models::BatchPolicy& policy, size_t capacity, size_t all_workers);

  bool in_use() const { return all_workers_ != 0; }
  size_t capacity() const { return capacity_; }
  size_t size() const { return lines_.size(); }
  bool empty() const { return lines_.empty(); }
  bool busy() const { return forecast_.requests() != 0; }

  // Gives no jobs to workers until Release. Want and GiveUp are ModelHold's.
  void SetHold(Hold hold) { hold_.Set(std::move(hold)); }
  // Ends the hold. The policy is that of the model that has been loaded.
  void Release(const models::BatchPolicy& policy);
  bool held() const { return hold_.held(); }
  std::function<void(Hold::Job)> Want(TimePoint now) { return hold_.Want(now); }
  void GiveUp() { hold_.GiveUp(); }

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
  TimePoint next_since() const { return NextLine(0)->front()->enqueued; }
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
  Duration OldestWait(TimePoint now) const { return lines_.OldestWait(now); }
  // Returns the forecast of the seconds that a newcomer would wait before it begins, by which Admit
  // decides: 0 until the pace is known. For a model that is being loaded it is what loading still
  // takes; it is 0 while nobody wants the model.
  double ExpectedWait(TimePoint now, double workers) const;

  // Returns the recent use in workers: 1 is one worker all the time.
  double recent_use(TimePoint now) const { return forecast_.recent_use(now); }

  Duration served{};  // the workers' time that it has had or, being empty, gave away

 private:
  using Line = JobLines::Line;

  size_t UnderWayLimit() const;
  size_t BatchSize() const;

  // Returns true if the next job may come from the line of jobs that have not begun.
  bool MayBeginFresh() const;
  bool MayBeginQuick() const;
  // Returns the line of the next job, if the next one of those that have begun is at this index of
  // theirs, which may be its end. Null: none may be taken.
  const Line* NextLine(size_t started) const;
  // Returns where the next batch runs: of the places of the jobs that have begun, the one with the
  // fewest steps. Null: anywhere.
  const void* NextPlace() const;
  // Returns true if a job may be in a batch that runs there.
  static bool Fits(const Job& job, const void* where);

  void Push(Line& line, std::unique_ptr<Job> job, bool newcomer);
  // Updates the sums for a job that has left a line.
  void OnLeave(const Line& line, const Job& job);
  std::unique_ptr<Job> Take(const JobLines::Place& place);
  // Leaves a gap, which CloseGaps of the lines closes.
  std::unique_ptr<Job> TakeOut(const JobLines::Place& place);
  // Hands a job out: to the batch or, if it is cancelled or late, to those that need no worker.
  // Returns true if it is in the batch.
  bool HandOut(std::unique_ptr<Job> job, TimePoint now, Popped& popped);
  // Take up to `most` jobs that fit a place.
  void TakeInTurn(size_t most, TimePoint now, const void* where, Popped& popped);
  // The same for jobs of several keys.
  void TakeByKey(size_t most, TimePoint now, const void* where, Popped& popped);
  void TakeByDeadline(size_t most, TimePoint now, double workers, const void* where,
                      Popped& popped);
  // Refuses jobs that have not begun, the last first, until the remaining work can be done in time.
  void RefuseExcess(TimePoint now, double workers, Popped& popped);
  std::optional<JobLines::Place> FindToDisplace(const Job& newcomer);
  // Charges the keys of a batch for its step, each job by the work that was done for it.
  void ChargeKeys(const std::vector<std::unique_ptr<Job>>& batch, Duration took);
  void StopRunning(Job& job);

  models::BatchPolicy policy_;
  size_t capacity_ = 0;
  size_t all_workers_ = 0;
  TimePoint last_used_{};

  JobLines lines_;
  AdmissionForecast forecast_;
  ModelHold hold_;
  KeyTurns keys_;
  size_t pressed_turns_ = 0;
  bool has_places_ = false;  // a job that came back had a place
};

}  // namespace millrace::server
