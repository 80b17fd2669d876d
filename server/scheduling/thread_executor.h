#pragma once

#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "mps_runtime/base/mutex.h"
#include "server/crashes/flight_recorder.h"
#include "server/scheduling/device.h"
#include "server/scheduling/scheduler.h"
#include "server/scheduling/step_timeline.h"

namespace millrace::server {

class ServedModel;

// Runs the jobs of the scheduler's queues: one thread for each worker, with its own stream and
// graph cache, which are made, used and destroyed on it. Start and Join must be called on one
// thread. Device and scheduler must outlive it; close the scheduler before it is destroyed.
class ThreadExecutor {
 public:
  // workers >= 1. timeline, recorder: get the steps of the workers and must outlive this; null:
  // none does.
  ThreadExecutor(int workers, Device& device, Scheduler& scheduler,
                 StepTimeline* timeline = nullptr, FlightRecorder* recorder = nullptr)
      : workers_(workers),
        device_(device),
        scheduler_(scheduler),
        timeline_(timeline),
        recorder_(recorder) {}
  ThreadExecutor(const ThreadExecutor&) = delete;
  ThreadExecutor& operator=(const ThreadExecutor&) = delete;
  ~ThreadExecutor() { Join(); }

  // Starts the workers and waits until each has warmed up on the models, unless the device is the
  // processor; the first failure stops all of them and is returned.
  absl::Status Start(std::span<const std::shared_ptr<ServedModel>> models) MILLRACE_EXCLUDES(mu_);
  // Waits until every worker has finished its step and ended; must be called after
  // Scheduler::Close. Idempotent.
  void Join();

 private:
  absl::Status WarmUpAll(std::span<const std::shared_ptr<ServedModel>> models,
                         runtime::WorkerContext& context);
  void Run(int worker, std::span<const std::shared_ptr<ServedModel>> models) MILLRACE_EXCLUDES(mu_);
  void RecordBegin(int worker, const std::vector<std::unique_ptr<Job>>& batch);
  void RecordEnd(int worker);
  void ReportStarted(absl::Status status) MILLRACE_EXCLUDES(mu_);

  const int workers_;
  Device& device_;
  Scheduler& scheduler_;
  StepTimeline* const timeline_;
  FlightRecorder* const recorder_;

  Mutex mu_;
  CondVar started_cv_;
  int started_ MILLRACE_GUARDED_BY(mu_) = 0;
  absl::Status start_status_ MILLRACE_GUARDED_BY(mu_);  // the first failure

  std::vector<std::thread> threads_;  // declared last: they use everything above
};

}  // namespace millrace::server
