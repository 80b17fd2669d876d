#pragma once

#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "mps_runtime/base/mutex.h"
#include "server/scheduling/device.h"
#include "server/scheduling/executor.h"
#include "server/scheduling/scheduler.h"

namespace millrace::server {

// One thread for each worker, with its own stream and graph cache, which are made, used and
// destroyed on it. Start and Join must be called on one thread. Device and scheduler must outlive
// it; close the scheduler before it is destroyed.
class ThreadExecutor final : public Executor {
 public:
  // workers >= 1.
  ThreadExecutor(int workers, Device& device, Scheduler& scheduler)
      : workers_(workers), device_(device), scheduler_(scheduler) {}
  ~ThreadExecutor() override { Join(); }

  absl::Status Start(std::span<const std::shared_ptr<ServedModel>> models) override
      MILLRACE_EXCLUDES(mu_);
  void Join() override;

 private:
  void Run(int worker, std::span<const std::shared_ptr<ServedModel>> models) MILLRACE_EXCLUDES(mu_);
  void ReportStarted(absl::Status status) MILLRACE_EXCLUDES(mu_);

  const int workers_;
  Device& device_;
  Scheduler& scheduler_;

  Mutex mu_;
  CondVar started_cv_;
  int started_ MILLRACE_GUARDED_BY(mu_) = 0;
  absl::Status start_status_ MILLRACE_GUARDED_BY(mu_);  // the first failure

  std::vector<std::thread> threads_;  // declared last: they use everything above
};

}  // namespace millrace::server
