#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "models/repository/model_repository.h"
#include "mps_runtime/base/mutex.h"
#include "mps_runtime/worker_context.h"
#include "server/http/server_view.h"
#include "server/metrics/metrics.h"
#include "server/scheduling/device.h"
#include "server/scheduling/model_directory.h"
#include "server/scheduling/scheduler.h"

namespace millrace::server {

// Takes models of the repository into service and out of it, and knows the state of each. Loading
// belongs on the main thread (its context is slot 0, which must be the first to see a new shape);
// everything else may be called on any thread. What it borrows must outlive it.
class ModelManager {
 public:
  // Asked before a package is loaded; an error refuses it.
  using MayServe = std::function<absl::Status(const models::ModelRepository::Package&)>;

  ModelManager(const models::ModelRepository& repository, Device& device,
               runtime::WorkerContext& main_context, Scheduler& scheduler, Metrics& metrics,
               ModelDirectory& directory, MayServe may_serve = nullptr)
      : repository_(repository),
        device_(device),
        main_context_(main_context),
        scheduler_(scheduler),
        metrics_(metrics),
        directory_(directory),
        may_serve_(std::move(may_serve)) {}

  // Main thread. Loads the latest version and warms it up; then new requests go to it. On failure
  // what served before stays.
  absl::Status Load(std::string_view name) MILLRACE_EXCLUDES(mu_);
  // Main thread. Loads every model of the repository; a failure is logged and shown in Models(),
  // the others go on. An error when the repository cannot be read or no model could be loaded.
  // `stop` is asked before each model; when true, the rest is left and the answer is OK.
  absl::Status LoadAll(const std::function<bool()>& stop) MILLRACE_EXCLUDES(mu_);
  // NOT_FOUND when it is not loaded. Requests in flight finish.
  absl::Status Unload(std::string_view name);

  // By name: what serves, and what else is on disk.
  std::vector<ModelStatusView> Models() const MILLRACE_EXCLUDES(mu_);

 private:
  struct Attempt {
    ModelState state = ModelState::kLoading;  // kLoading or kFailed
    std::string error;
  };

  absl::Status LoadAndWarmUp(std::string_view name);

  const models::ModelRepository& repository_;
  Device& device_;
  runtime::WorkerContext& main_context_;
  Scheduler& scheduler_;
  Metrics& metrics_;
  ModelDirectory& directory_;
  const MayServe may_serve_;

  mutable Mutex mu_;
  std::map<std::string, Attempt, std::less<>> attempts_
      MILLRACE_GUARDED_BY(mu_);  // loading now, or failed last time
};

}  // namespace millrace::server
