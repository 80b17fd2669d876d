#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "mps_runtime/runtime.h"
#include "server/control/model_manager.h"
#include "server/metrics/metric_writer.h"
#include "server/requests/server_view.h"
#include "server/scheduling/admission.h"

namespace millrace::server {

// The state of the server as HTTP, AdminService and metrics show it. Thread-safe; what it
// borrows must outlive it.
class ServerStatus final : public ServerView {
 public:
  ServerStatus(runtime::Runtime& runtime, const ModelManager& models,
               const ModelDirectory& directory, const Scheduler& scheduler,
               const Admission& admission, int workers)
      : runtime_(runtime),
        models_(models),
        directory_(directory),
        scheduler_(scheduler),
        admission_(admission),
        workers_(workers) {}

  void SetReady(bool ready) { ready_.store(ready); }
  // Sets for how long a polling thread of gRPC has not come round. From kStalled on, the server is
  // not ready, since its calls are not answered.
  void SetPollingDelay(Duration delay) { polling_delay_.store(delay); }
  static constexpr Duration kStalled = std::chrono::seconds(5);

  // Sets for how long no executor has served. From kWithoutExecutor on, the server is not ready.
  void SetTimeWithoutExecutor(Duration time) { without_executor_.store(time); }
  static constexpr Duration kWithoutExecutor = std::chrono::seconds(2);

  // Sets what Degraded returns.
  void SetDegraded(std::string degraded) MILLRACE_EXCLUDES(mu_);

  std::string Version() const override;
  bool Live() const override { return true; }
  // False without a model too: no request for work could be served.
  bool Ready() const override {
    return ready_.load() && polling_delay_.load() < kStalled &&
           without_executor_.load() < kWithoutExecutor && !directory_.empty();
  }
  std::string Degraded() const override MILLRACE_EXCLUDES(mu_);
  std::vector<ModelStatusView> Models() const override { return models_.Models(); }
  std::optional<ModelStatusView> FindModel(std::string_view name) const override;

  void Collect(MetricWriter& writer) const;
  // The load of all models together: the sum of what waits, and the greatest times.
  struct Load {
    int permits = 0;
    int permits_in_use = 0;
    size_t queue_depth = 0;
    double queue_oldest_seconds = 0;
    double expected_wait_seconds = 0;
  };
  Load CurrentLoad() const;
  runtime::Runtime& runtime() const { return runtime_; }
  int workers() const { return workers_; }
  int64_t requests_in_flight() const { return admission_.in_flight(); }
  std::chrono::duration<double> uptime() const { return std::chrono::steady_clock::now() - start_; }
  // Returns the number of waiting requests of a loaded model and its limit; zeros if it is not
  // loaded.
  std::pair<size_t, size_t> Queue(std::string_view model) const;

 private:
  runtime::Runtime& runtime_;
  const ModelManager& models_;
  const ModelDirectory& directory_;
  const Scheduler& scheduler_;
  const Admission& admission_;
  const int workers_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::atomic<bool> ready_{false};
  std::atomic<Duration> polling_delay_{Duration::zero()};
  std::atomic<Duration> without_executor_{Duration::zero()};
  mutable Mutex mu_;
  std::string degraded_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
