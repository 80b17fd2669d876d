#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "models/core/model.h"
#include "models/core/request.h"
#include "server/metrics/inference_counts.h"
#include "server/scheduling/fair_share.h"
#include "server/scheduling/forecast_margin.h"

namespace millrace::tracing {
class RequestTrace;
}  // namespace millrace::tracing

namespace millrace::server {

class Job;
class ServedModel;

// The caller's side of a job: takes the outputs and the final status to the client. Calls implement
// it.
class Reply : public models::OutputSink {
 public:
  // Ends the call. Called exactly once, after the last Emit. The object must not be touched
  // afterwards, because it may be gone when this returns.
  virtual void Finish(const absl::Status& status) = 0;
  // Returns true while the client has not taken what was already emitted, so that the next step
  // should wait. Unary replies are never congested.
  virtual bool Congested() const { return false; }
  // Keeps a job whose reply is congested and hands it to Scheduler::Requeue when the client has
  // caught up.
  virtual void Park(std::unique_ptr<Job> job);

  // The spans of the request; null unless it is sampled. They must outlive its jobs.
  tracing::RequestTrace* trace() const { return trace_; }
  void set_trace(tracing::RequestTrace* trace) { trace_ = trace; }

 private:
  tracing::RequestTrace* trace_ = nullptr;
};

// One admitted request on its way: queue, worker, perhaps queue again, end. It holds plain data, so
// that an executor could hand it to another process. One thread at a time owns it, and the owner
// must end it with FinishJob.
class Job {
 public:
  Job(models::Input input, const models::TimeLimit& limit, Reply& reply,
      std::shared_ptr<ServedModel> model, const Clock& clock, const FairShare& share = {});

  // Declared before the request, whose state may lie in the model's memory.
  const std::shared_ptr<ServedModel> model;
  models::Request request;
  Reply& reply;
  const FairShare share;
  const TimePoint admitted;
  const double estimate;  // for all its work, before it began
  TimePoint enqueued{};   // when it last entered its queue; set by the scheduler
  // The totals over its steps so far: the waits before them, and their time.
  Duration waited{};
  Duration service{};
  // The same by phases, without steps that failed.
  StepTimes step_times;
  // True after a step of a batch failed although no request failed by itself, for example when
  // memory was short. The job then runs alone, because the same batch would fail again.
  bool alone = false;
  // The model that has checked the input; null: it is not known. It is not the one that will run
  // the job if that was not loaded at the time.
  const models::Model* checked_by = nullptr;
  // True if it was much shorter than the others when it arrived.
  bool quick = false;
  // True while it waits for its first step and may still be refused with a retry hint.
  bool may_be_refused = false;
  // For the spans of a sampled request: false from its first step on until it is queued again, and
  // since when it has waited for its client (TimePoint(): it does not).
  bool in_queue = true;
  TimePoint parked_at{};
  // Its entry in the scheduler's account of running jobs; 0: none.
  size_t running_place = 0;
  // The virtual time that its key was charged for its step, and its part of that step's time.
  double charged = 0;
  Duration step_share{};
  // The scheduler's forecast of the time from admission to the end. There is none for a job that
  // was admitted without a forecast, or that has waited for its client since.
  ForecastMargin::Made forecast;
};

// Returns the status of a request for which ShouldStop is true: DEADLINE_EXCEEDED or CANCELLED. The
// deadline takes precedence, because gRPC also cancels a call whose deadline passes.
absl::Status StopStatus(const models::Request& request);

// Returns the status of a job that the server ends because it stops. It is a refusal unless the job
// has begun.
absl::Status ShutdownStatus(const Job& job);

// Ends a job: counts it for its model and destroys it, then delivers the status.
void FinishJob(std::unique_ptr<Job> job, const absl::Status& status);

}  // namespace millrace::server
