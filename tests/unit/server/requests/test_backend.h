#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "server/metrics/metrics.h"
#include "server/requests/services.h"
#include "server/requests/stream_registry.h"
#include "server/scheduling/admission.h"
#include "server/scheduling/model_directory.h"
#include "server/scheduling/scheduler.h"
#include "server/scheduling/thread_executor.h"
#include "tests/fakes/fake_device.h"
#include "tests/fakes/fake_model.h"

namespace millrace::server {

// Serves requests, whoever sends them (admission, queue, workers), with fake models on a fake
// device. The models stay until it goes.
class TestBackend {
 public:
  struct Options {
    int workers = 2;
    int64_t max_requests = 1000;
    size_t queue_size = 1000;
    const ApiKeyStore* keys = nullptr;
    Duration max_request_time = std::chrono::hours(1);
    size_t max_buffered_bytes = 64 << 10;
    KeyLimits* limits = nullptr;
    Clock& clock = Clock::Real();
  };

  explicit TestBackend(Options options)
      : admission(options.max_requests),
        scheduler({.default_queue_size = options.queue_size, .workers = options.workers},
                  options.clock),
        executor_(options.workers, device_, scheduler),
        services_{.admission = admission,
                  .scheduler = scheduler,
                  .models = directory,
                  .streams = streams,
                  .no_model_metrics = *no_model_metrics,
                  .keys = options.keys,
                  .max_request_time = options.max_request_time,
                  .max_buffered_bytes = options.max_buffered_bytes,
                  .limits = options.limits,
                  .clock = options.clock} {
    EXPECT_TRUE(executor_.Start({}).ok());
  }
  TestBackend() : TestBackend(Options()) {}
  ~TestBackend() {
    CloseScheduler();
    JoinWorkers();
  }

  std::shared_ptr<ServedModel> Add(models::ModelInfo info, testing::ModelHooks hooks) {
    const std::string name = info.name;
    auto model = std::make_shared<ServedModel>(
        std::make_unique<testing::FakeModel>(std::move(info), std::move(hooks)), scheduler,
        metrics.ForModel(name));
    directory.Put(model);
    return model;
  }

  // Does what a stopping process does once the time of a drain is over. Idempotent.
  void CloseScheduler() {
    for (auto& job : scheduler.Close())
      FinishJob(std::move(job), absl::UnavailableError("the server is shutting down"));
  }

  // Idempotent, after CloseScheduler.
  void JoinWorkers() { executor_.Join(); }

  Services& services() { return services_; }

  // How many calls of a method have ended with a code.
  double Count(const std::string& model, Method method, absl::StatusCode code) {
    return metrics.ForModel(model)
        ->requests[static_cast<size_t>(method)][static_cast<size_t>(code)]
        ->Value();
  }

  Metrics metrics{BuildInfo{}};
  const std::shared_ptr<ModelMetrics> no_model_metrics = metrics.ForModel("");
  Admission admission;
  Scheduler scheduler;
  ModelDirectory directory;
  StreamRegistry streams{std::chrono::seconds(30)};

 private:
  testing::FakeDevice device_;
  ThreadExecutor executor_;
  Services services_;
};

}  // namespace millrace::server
