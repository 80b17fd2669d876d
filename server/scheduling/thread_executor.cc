#include "server/scheduling/thread_executor.h"

#include <exception>
#include <system_error>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/scheduling/served_model.h"
#include "server/scheduling/step.h"

namespace millrace::server {

absl::Status ThreadExecutor::Start(std::span<const std::shared_ptr<ServedModel>> models) {
  try {
    for (int i = 0; i < workers_; ++i) threads_.emplace_back([this, i, models] { Run(i, models); });
  } catch (const std::system_error& error) {
    // The threads that run use `models`, so they end here.
    scheduler_.Close();
    const size_t running = threads_.size();
    Join();
    return absl::ResourceExhaustedError(StrCat("worker ", running + 1, " of ", workers_,
                                               " could not start its thread: ", error.what()));
  }
  absl::Status status;
  {
    MutexLock lock(mu_);
    while (started_ < workers_) started_cv_.Wait(mu_);
    status = start_status_;
  }
  if (!status.ok()) {
    scheduler_.Close();
    Join();
  }
  return status;
}

void ThreadExecutor::Join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void ThreadExecutor::ReportStarted(absl::Status status) {
  MutexLock lock(mu_);
  ++started_;
  start_status_.Update(std::move(status));
  started_cv_.NotifyAll();
}

absl::Status ThreadExecutor::WarmUpAll(std::span<const std::shared_ptr<ServedModel>> models,
                                       runtime::WorkerContext& context) {
  const WarmUpExtent extent =
      device_.SharesCompiledShapes() ? WarmUpExtent::kOneForward : WarmUpExtent::kEveryShape;
  for (const auto& model : models) {
    MILLRACE_RETURN_IF_ERROR(WarmUp(model->model(), device_, context, extent));
  }
  return absl::OkStatus();
}

void ThreadExecutor::Run(int worker, std::span<const std::shared_ptr<ServedModel>> models) {
  std::unique_ptr<runtime::WorkerContext> context;
  try {
    context = device_.EnterWorker();
  } catch (const std::exception& error) {
    ReportStarted(Internal("a worker could not start: ", error.what()));
    return;
  } catch (...) {
    ReportStarted(Internal("a worker could not start: unknown failure"));
    return;
  }
  absl::Status status;
  // A processor keeps nothing for a thread that the main thread's warm-up has not made.
  if (!device_.ComputesOnWorkers()) status = WarmUpAll(models, *context);
  const bool ok = status.ok();
  ReportStarted(std::move(status));
  if (!ok) return;

  // `models` may be gone from here on, since Start has returned.
  SharedLoop* const loops = device_.ComputesOnWorkers() ? &scheduler_.loops(worker) : nullptr;
  Scheduler::Popped popped;
  while (scheduler_.PopBatch(popped)) {
    for (auto& job : popped.dropped) {
      const auto& outcome = job->request.outcome();
      const absl::Status why = outcome ? *outcome : StopStatus(job->request);
      FinishJob(std::move(job), why);
    }
    if (popped.batch.empty()) continue;
    RecordBegin(worker, popped.batch);
    RunStep(std::move(popped.batch), device_, *context, scheduler_, loops, Clock::Real(), worker);
    RecordEnd(worker);
  }
}

void ThreadExecutor::RecordBegin(int worker, const std::vector<std::unique_ptr<Job>>& batch) {
  const std::string& model = batch.front()->model->info().name;
  const TimePoint now = Clock::Real().Now();
  if (timeline_ != nullptr) timeline_->Begin(worker, model, batch.size(), now);
  if (recorder_ == nullptr) return;
  const auto lane = static_cast<size_t>(worker);
  recorder_->Begin(lane, model, now);
  for (const auto& job : batch) recorder_->AddRequest(lane, /*id=*/0, job->request.input());
}

void ThreadExecutor::RecordEnd(int worker) {
  const TimePoint now = Clock::Real().Now();
  if (timeline_ != nullptr) timeline_->End(worker, now);
  if (recorder_ != nullptr) recorder_->End(static_cast<size_t>(worker), now);
}

}  // namespace millrace::server
