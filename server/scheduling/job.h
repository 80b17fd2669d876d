#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "models/core/request.h"
#include "server/scheduling/forecast_margin.h"

namespace millrace::server {

class Job;
class ServedModel;

// The caller's side of a job: takes the outputs and the final status to the client. Implemented by
// the calls of the services.
class Reply : public models::OutputSink {
 public:
  // The end of the call, exactly once, after the last Emit. Not to be touched afterwards: it may be
  // gone by the return.
  virtual void Finish(const absl::Status& status) = 0;
  // True while the client has not taken what was already emitted: the next step should wait. Unary
  // replies never are.
  virtual bool Congested() const { return false; }
  // Keeps a job whose reply is congested and hands it to Scheduler::Requeue when the client has
  // caught up.
  virtual void Park(std::unique_ptr<Job> job);
};

// One admitted request on its way: queue, worker, perhaps queue again, end. Plain data inside, so
// that an executor could hand it to another process. Touched by one thread at a time; whoever owns
// it must end it by FinishJob.
class Job {
 public:
  Job(models::Input input, TimePoint deadline, Reply& reply, std::shared_ptr<ServedModel> model,
      const Clock& clock);

  // Before the request, whose state may lie in the model's memory.
  const std::shared_ptr<ServedModel> model;
  models::Request request;
  Reply& reply;
  const TimePoint admitted;
  const double estimate;  // of all its work, before anything was known of it
  TimePoint enqueued{};   // when it last entered its queue; set by the scheduler
  // What it has had so far, summed over its steps: the wait before them, and their time.
  Duration waited{};
  Duration service{};
  // A step in company failed that no request failed by itself, as for want of memory: it goes on
  // alone, for the same company would fail again.
  bool alone = false;
  // Much shorter than the others when it came.
  bool quick = false;
  // It waits to begin, and may still be told to come again later.
  bool may_be_refused = false;
  // Where the scheduler keeps account of it while it runs; 0: nowhere.
  size_t running_place = 0;
  // From admission to its end, as the scheduler foresaw it; none for one that was not admitted by a
  // forecast, or whose time was its client's since.
  ForecastMargin::Made forecast;
};

// Why a request that ShouldStop does: DEADLINE_EXCEEDED or CANCELLED. The deadline goes first,
// since gRPC cancels a call whose deadline passes, too.
absl::Status StopStatus(const models::Request& request);

// Ends a job: destroys it, then delivers the status.
void FinishJob(std::unique_ptr<Job> job, const absl::Status& status);

}  // namespace millrace::server
