#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "models/repository/model_repository.h"
#include "mps_runtime/base/mutex.h"
#include "mps_runtime/worker_context.h"
#include "server/metrics/metric_writer.h"
#include "server/metrics/metrics.h"
#include "server/requests/server_view.h"
#include "server/scheduling/device.h"
#include "server/scheduling/model_directory.h"
#include "server/scheduling/scheduler.h"

namespace millrace::server {

// Takes models of the repository into service and out of it, and knows the state of each. Loading
// belongs on the main thread (its context is slot 0, which must be the first to see a new shape);
// everything else may be called on any thread. What it borrows must outlive it.
class ModelManager {
 public:
  // Called before a package is loaded; an error rejects it.
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
  // the version that served before stays.
  absl::Status Load(std::string_view name) MILLRACE_EXCLUDES(mu_);
  // Main thread. Loads the version that an idle model had. It fails with NOT_FOUND when the model
  // has left the directory meanwhile.
  absl::Status LoadIdle(const std::shared_ptr<ServedModel>& idle) MILLRACE_EXCLUDES(mu_);
  // Main thread. Loads every model of the repository. A failure is logged and shown in Models(),
  // and the others are still loaded. Returns an error when the repository cannot be read or no
  // model could be loaded. `stop` is called before each model; when it returns true, the rest is
  // skipped and the result is OK.
  absl::Status LoadAll(const std::function<bool()>& stop) MILLRACE_EXCLUDES(mu_);
  // Fails with NOT_FOUND when the model is not loaded. Requests in flight finish, but those that
  // wait for an idle model to be loaded end with NOT_FOUND.
  absl::Status Unload(std::string_view name);

  const models::ModelRepository& repository() const { return repository_; }

  // Collects the metrics of the models that serve, of their queues and of loading.
  void Collect(MetricWriter& writer) const MILLRACE_EXCLUDES(mu_);
  // Called with each model and whether it is ready, now and at every change; nullopt means that
  // there is no such model. The last call for a model describes its present state. The listener
  // runs on the thread that loads or unloads, and must not call this object. Null removes it.
  using Listener = std::function<void(std::string_view model, std::optional<bool> ready)>;
  void SetListener(Listener listener) MILLRACE_EXCLUDES(listener_mu_, mu_);

  // Returns where the package of a model that was loaded is from; all is empty if it does not say.
  models::ModelOrigin OriginOf(std::string_view name) const MILLRACE_EXCLUDES(mu_);

  // Returns all models sorted by name: those that serve, and those that are only on disk.
  std::vector<ModelStatusView> Models() const MILLRACE_EXCLUDES(mu_);

 private:
  struct Attempt {
    ModelState state = ModelState::kLoading;  // kLoading or kFailed
    std::string error;
  };

  using FindPackage = std::function<absl::StatusOr<models::ModelRepository::Package>()>;

  // Loads a package into the place of an idle model or, without it, as a new one.
  absl::Status Load(std::string_view name, const FindPackage& find,
                    std::shared_ptr<ServedModel> idle) MILLRACE_EXCLUDES(mu_);
  absl::Status LoadAndWarmUp(std::string_view name, const FindPackage& find,
                             const std::shared_ptr<ServedModel>& idle);
  // Lets a loaded model serve. `idle`: as for Load.
  absl::Status PutInService(std::unique_ptr<const models::Model> model, LoadCost cost,
                            std::shared_ptr<ServedModel> idle);
  // Returns true if requests to the model can be served, perhaps once it is loaded.
  bool IsReady(std::string_view name) const MILLRACE_EXCLUDES(mu_);
  // `exists`: the repository has such a model, whether it is loaded or not.
  void Announce(std::string_view name, bool exists) MILLRACE_EXCLUDES(listener_mu_);

  const models::ModelRepository& repository_;
  Device& device_;
  runtime::WorkerContext& main_context_;
  Scheduler& scheduler_;
  Metrics& metrics_;
  ModelDirectory& directory_;
  const MayServe may_serve_;

  std::atomic<uint64_t> load_failures_{0};

  mutable Mutex mu_;
  std::map<std::string, Attempt, std::less<>> attempts_
      MILLRACE_GUARDED_BY(mu_);  // loading now, or failed last time
  std::map<std::string, models::ModelOrigin, std::less<>> origins_
      MILLRACE_GUARDED_BY(mu_);  // where the served versions are from

  // Held while the listener is called, so that its last call describes the present state.
  Mutex listener_mu_;
  Listener listener_ MILLRACE_GUARDED_BY(listener_mu_);
};

}  // namespace millrace::server
