#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "models/core/model_info.h"
#include "mps_runtime/base/clock.h"
#include "server/metrics/model_metrics.h"
#include "server/scheduling/deadline_load.h"
#include "server/scheduling/fair_share.h"
#include "server/scheduling/forecast_margin.h"
#include "server/scheduling/job.h"
#include "server/scheduling/job_lines.h"
#include "server/scheduling/pace.h"

namespace millrace::server {

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

// Forecasts when the work of a queue is done, and decides by that which newcomers are admitted.
//
// It is told of each job that enters the queue, leaves it, runs and stops, and keeps the sums of
// their work. The work that is left of each request is known, and the time of a unit of work is
// learnt from the last steps. A newcomer is admitted if its own work would be done by its deadline,
// and the work that was admitted before still would.
//
// Not thread-safe. `workers` is the number of workers that the model can count on, of all that
// there are. `lines`: the jobs that wait.
class AdmissionForecast {
 public:
  // A newcomer much shorter than the others has at most this part of their work on average.
  static constexpr double kMuchShorter = 1.0 / 8;

  AdmissionForecast() = default;
  AdmissionForecast(const models::BatchPolicy& policy, size_t all_workers)
      : policy_(policy), all_workers_(all_workers) {}
  void SetPolicy(const models::BatchPolicy& policy) { policy_ = policy; }

  // The outstanding work of a running job.
  struct Running {
    TimePoint deadline;
    double work = 0;
    double due_work = 0;
    FairShare share = {};
    bool runs = true;  // false: the place is free
  };

  // A job that enters a line is told with Enter, one that leaves it with Leave. Between leaving and
  // coming back it may run, from Start to Stop.

  // newcomer: it has not been in the queue before.
  void Enter(const Job& job, bool newcomer);
  void Leave(const Job& job);
  // Returns its work.
  double Start(Job& job, TimePoint now);
  // Returns what Start counted; nothing if the job does not run.
  std::optional<Running> Stop(Job& job);
  // Learns from a job whose step has ended, before the step counts as its service.
  void LearnFromStep(const Job& job, TimePoint now);
  // Learns from a job that was given up before its end.
  void LearnFromLeaving(const Job& job, TimePoint now) {
    margin_.RecordGivenUp(Seconds(now - job.admitted), job.forecast);
  }
  // Reports what a worker did in a step, once its jobs are back or gone. on_gone: called, once no
  // job runs, with what Start counted of each job that is gone without Stop.
  void ReportStep(const StepReport& step, TimePoint now,
                  absl::FunctionRef<void(const Running&)> on_gone);

  // Returns the number of jobs that wait or run; that of those that run.
  size_t requests() const { return waiting_ + running_; }
  size_t running() const { return running_; }
  // The outstanding work of those that run; entries without work are of jobs that have stopped.
  const std::vector<Running>& running_work() const { return running_work_; }
  // Returns the number of requests that all workers serve at once.
  size_t AtOnce() const { return all_workers_ * policy_.max_batch; }

  // Returns OK, or RESOURCE_EXHAUSTED with a retry hint for a job that arrived now if the job or
  // others would miss their deadlines. Sets the job's forecast. part_before: the part of the work
  // of others that is done before it (KeyTurns::PartBefore).
  absl::Status Admit(Job& job, const JobLines& lines, double part_before, TimePoint now,
                     double workers);
  // Returns the error of a job that would be late whenever it came, which names the length that
  // fits; else OK.
  absl::Status CheckLength(const Job& job, TimePoint now) const;
  // Returns the seconds that a newcomer would wait before it begins, by which Admit decides: 0
  // until the pace is known.
  double ExpectedWait(TimePoint now, double workers) const;
  // Returns true if this much work is much shorter than what others have left.
  bool IsQuick(double work) const;

  // Returns true if work would be late if requests took turns.
  bool IsPressed(const JobLines& lines, TimePoint now, double workers);
  // Returns the seconds of work too much to be done in time, as IsPressed saw it, and by which
  // deadline; at most 0 if all can be done, or too little is known.
  double Excess(TimePoint& deadline) const;
  // Returns the seconds of work that are due by this deadline, as IsPressed saw it.
  double DueBy(TimePoint deadline) const { return load_.DueBy(deadline); }

  // Returns the work that is left of a job, as far as it is known.
  double WorkOf(const Job& job) const {
    return job.request.work_left() * (job.service.count() == 0 ? correction_.factor() : 1);
  }
  // Returns how much of it is due by the job's deadline: all, but a part of a streamed request that
  // goes on behind its deadline.
  double DueWorkOf(const Job& job, TimePoint now) const;
  // Returns true if the job would be done by its deadline if it were alone.
  bool HasTimeAlone(const Job& job, TimePoint now) const;
  // Returns the seconds that all workers together take for this much work.
  double SecondsFor(double work, double workers) const { return work * pace_.seconds() / workers; }
  // Returns the same for all outstanding work.
  double SecondsForAll(double workers) const { return SecondsFor(AllWork(), workers); }
  // Returns the seconds that a request takes for this much work once it has begun and is not
  // interrupted.
  double SecondsAlone(double work) const;
  // Returns the workers that much shorter requests leave to the others.
  double LeftByQuick(double workers, TimePoint now) const;
  // Returns the recent use in workers: 1 is one worker all the time.
  double recent_use(TimePoint now) const { return use_.workers(now); }

 private:
  void Count(const Job& job, double sign);
  // Returns the work that is left of all jobs, waiting and running.
  double AllWork() const { return begun_work_ + correction_.factor() * new_work_; }
  // Returns the seconds that a newcomer waits if it begins once this part of the work of all others
  // is done. It begins at once while there are fewer requests than workers.
  double WaitForOthers(double workers, double part = 1) const {
    return requests() < all_workers_ ? 0 : SecondsFor(part * AllWork(), workers);
  }
  // Returns false if this much work would surely not be done by `end` if it were alone.
  bool MayFit(double work, TimePoint end, TimePoint now) const;
  // Returns the seconds before a deadline by which its work should be done.
  double Reserve() const;
  // Returns true if everything would be done before the earliest deadline even if it took `stretch`
  // times as long.
  bool HasTimeFor(double more_work, double stretch, TimePoint now, double workers) const;
  // Computes load_ again if much has changed since the last time.
  void RefreshLoad(const JobLines& lines, TimePoint now, double workers);

  models::BatchPolicy policy_;
  size_t all_workers_ = 0;

  size_t waiting_ = 0;  // jobs
  size_t running_ = 0;  // jobs handed out, with their step not yet reported
  // Work left of all jobs, waiting and running: of those that have had a step, and of the others as
  // it was estimated.
  double begun_work_ = 0;
  double new_work_ = 0;
  double squares_ = 0;  // the sum of their squares
  std::vector<Running> running_work_;
  std::vector<size_t> free_places_;  // free indices of running_work_

  Pace pace_;
  Correction correction_;
  RecentUse use_;
  RecentUse quick_use_;  // the part of it by much shorter requests
  ForecastMargin margin_;

  DeadlineLoad load_;
  size_t changes_ = 0;                     // changes since load_ was computed
  double added_ = 0;                       // work that newcomers have brought since then
  TimePoint earliest_ = TimePoint::max();  // no job has an earlier deadline
};

}  // namespace millrace::server
