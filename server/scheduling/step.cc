#include "server/scheduling/step.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/core/errors.h"
#include "models/core/failure_text.h"
#include "models/core/strings.h"
#include "models/kernels/parallel_for.h"
#include "server/scheduling/served_model.h"
#include "server/scheduling/step_failure.h"
#include "server/scheduling/step_trace.h"
#include "server/tracing/request_trace.h"

namespace millrace::server {
namespace {

// Delivers the outcome of the step for each job.
void Settle(std::vector<std::unique_ptr<Job>> batch, Scheduler& scheduler) {
  for (auto& job : batch) {
    if (const auto& outcome = job->request.outcome()) {
      const absl::Status status = *outcome;
      FinishJob(std::move(job), status);
    } else if (job->request.ShouldStop()) {
      const absl::Status status = StopStatus(job->request);
      FinishJob(std::move(job), status);
    } else if (job->reply.Congested()) {
      if (job->request.state() != nullptr) job->request.state()->Suspend();
      job->forecast = {};  // from now on it waits for its client
      if (job->reply.trace() != nullptr) job->parked_at = job->request.now();
      Reply& reply = job->reply;
      reply.Park(std::move(job));
    } else {
      scheduler.Requeue(std::move(job), Scheduler::Wake::kNobody);
    }
  }
}

// Runs a step, and turns an exception into the status for a request that was alone in it. Counts a
// step that ran to its end, whose times it writes; adds to `stalled` what it spent without
// computing.
absl::Status TryStep(const ServedModel& served, std::span<models::Request* const> requests,
                     Device& device, runtime::WorkerContext& context, StepTimes& times,
                     Duration& stalled, StepTrace* trace, Clock& clock) {
  const models::Model& model = served.model();
  try {
    const TimePoint begin = clock.Now();
    const std::unique_ptr<models::Batch> step = model.Prepare(requests);
    if (step == nullptr) {
      if (trace != nullptr) trace->NothingToRun(clock.Now());
      return absl::OkStatus();
    }
    const auto in_step = static_cast<size_t>(std::ranges::count_if(
        requests, [](const models::Request* request) { return !request->outcome(); }));
    const TimePoint start = clock.Now();
    if (trace != nullptr) trace->Prepared(start);
    const Duration waited = device.RunForward(context, *step);
    const TimePoint end = clock.Now();
    served.metrics().compute_seconds.Observe(Seconds(end - start - waited));
    served.metrics().permit_wait_seconds.Observe(Seconds(waited));
    if (trace != nullptr) trace->Forwarded(end, waited, served.metrics());
    stalled += step->stalled();
    step->Complete();
    const TimePoint done = clock.Now();
    if (trace != nullptr) trace->Completed(done);
    times = {.permit = waited,
             .input = start - begin,
             .infer = end - start - waited,
             .output = done - end};
    served.counts().CountStep(in_step, times, done);
    return absl::OkStatus();
  } catch (...) {
    return StepFailure(model);
  }
}

// Returns false if the job's input was not checked until now and is wrong; then it is finished.
bool CheckInput(const ServedModel& served, Job& job) {
  // A state that another instance of the model prepared does not fit this one.
  if (job.checked_by != &served.model() && job.service == Duration::zero())
    job.request.set_state(nullptr);
  absl::Status status = served.CheckLate(job.request.input(), job.checked_by);
  job.checked_by = &served.model();
  if (!status.ok()) job.request.Finish(std::move(status));
  return !job.request.outcome().has_value();
}

class NullSink final : public models::OutputSink {
 public:
  void Emit(models::Output) override {}
};

// Runs a batch of `size` requests with the same input to the end; returns the status of one that
// failed.
absl::Status RunToTheEnd(const models::Model& model, const models::Input& input, size_t size,
                         Device& device, runtime::WorkerContext& context) {
  NullSink sink;
  std::deque<models::Request> requests;
  std::vector<models::Request*> unfinished;
  for (size_t i = 0; i < size; ++i)
    unfinished.push_back(&requests.emplace_back(input, TimePoint::max(), sink));
  while (!unfinished.empty()) {
    const std::unique_ptr<models::Batch> step = model.Prepare(unfinished);
    if (step == nullptr) break;
    device.RunForward(context, *step);
    step->Complete();
    std::erase_if(unfinished, [](const models::Request* r) { return r->outcome().has_value(); });
  }
  for (const models::Request& request : requests) {
    if (request.outcome() && !request.outcome()->ok()) return *request.outcome();
  }
  return absl::OkStatus();
}

}  // namespace

void RunStep(std::vector<std::unique_ptr<Job>> batch, Device& device,
             runtime::WorkerContext& context, Scheduler& scheduler, SharedLoop* loops, Clock& clock,
             int worker) {
  const kernels::ScopedLoopRunner runner(loops);
  const std::shared_ptr<ServedModel> model = batch.front()->model;
  ModelMetrics& metrics = model->metrics();
  const TimePoint start = clock.Now();
  // Requests that a model rejects that was loaded for them stay behind the others.
  auto rejected = batch.end();
  if (model->made_idle()) {
    rejected = std::stable_partition(batch.begin(), batch.end(),
                                     [&](const auto& job) { return CheckInput(*model, *job); });
  }
  std::vector<models::Request*> requests;
  requests.reserve(batch.size());
  for (const auto& job : batch) job->waited += start - job->enqueued;
  std::for_each(batch.begin(), rejected,
                [&](const auto& job) { requests.push_back(&job->request); });
  metrics.batch_size.Observe(static_cast<double>(batch.size()));

  Duration stalled{};
  // Runs these of the batch's requests, and adds the times of the step to theirs.
  const auto try_step = [&](size_t first, size_t count) {
    std::optional<StepTrace> trace;
    const std::span<const std::unique_ptr<Job>> jobs(&batch[first], count);
    if (AnySampled(jobs))
      trace.emplace(jobs, StepTrace::Place{worker, context.stream().slot}, clock.Now());
    StepTimes times;
    absl::Status end = TryStep(*model, {&requests[first], count}, device, context, times, stalled,
                               trace ? &*trace : nullptr, clock);
    if (trace && !end.ok()) trace->Failed(clock.Now(), end);
    for (const auto& job : jobs) job->step_times += times;
    return end;
  };
  absl::Status status;
  if (!requests.empty()) status = try_step(0, requests.size());
  if (!status.ok()) {
    bool one_is_at_fault = requests.size() == 1;
    for (size_t i = 0; i < requests.size(); ++i) {
      models::Request* const request = requests[i];
      if (request->outcome()) continue;  // it finished before the failure
      if (requests.size() > 1) status = try_step(i, 1);
      if (status.ok()) continue;
      request->Finish(status);
      one_is_at_fault = true;
    }
    for (const auto& job : batch) job->alone |= !one_is_at_fault;
  }

  // The pace of a step that was helped is that of one worker alone, as forecasts need it.
  const Duration helped = loops == nullptr ? Duration{} : loops->TakeHelped();
  if (helped > Duration{}) metrics.helped_seconds.Increment(Seconds(helped));
  const auto took = [&] { return clock.Now() - start + helped - stalled; };
  Scheduler::StepReport report{.jobs = batch.size(), .took = took()};
  scheduler.EndStep(batch, report.took);
  report.tells_pace = false;
  for (const auto& job : batch) {
    report.work += job->request.TakeWorkDone();
    if (job->quick) ++report.quick;
    const auto& outcome = job->request.outcome();
    report.tells_pace |= outcome ? outcome->ok() : !job->request.ShouldStop();
    if (!outcome) continue;
    metrics.queue_seconds.Observe(Seconds(job->waited));
    if (const tracing::RequestTrace* trace = job->reply.trace())
      metrics.queue_seconds.SetExemplar(Seconds(job->waited), tracing::ToHex(trace->id()));
  }
  report.tells_pace |= report.work > 0;
  // Jobs count as running until they are back in the queue; otherwise another worker would begin
  // further requests.
  Settle(std::move(batch), scheduler);
  // Delivery takes the worker's time too.
  report.took = took();
  scheduler.ReportStep(model->queue(), report);
}

absl::Status WarmUp(const models::Model& model, Device& device, runtime::WorkerContext& context,
                    WarmUpExtent extent) {
  const auto failed = [&model](std::string_view why) {
    return Internal("warm-up of model '", model.info().name, "' failed: ", why);
  };
  try {
    for (const size_t size : model.WarmupBatches()) {
      for (const models::Input& input : model.WarmupInputs()) {
        const absl::Status status = RunToTheEnd(model, input, size, device, context);
        if (!status.ok()) return failed(Message(status));
        if (extent == WarmUpExtent::kOneForward) return absl::OkStatus();
      }
    }
  } catch (const std::exception& error) {
    LogModelFailure(model, error.what());
    return failed(FailureCause(error.what()));
  } catch (...) {
    return failed("unknown failure");
  }
  return absl::OkStatus();
}

}  // namespace millrace::server
