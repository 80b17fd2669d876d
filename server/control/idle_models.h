#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "server/control/idle_policy.h"
#include "server/control/main_loop.h"
#include "server/control/model_manager.h"
#include "server/metrics/metric_writer.h"
#include "server/scheduling/model_directory.h"
#include "server/scheduling/scheduler.h"

namespace millrace::server {

// Unloads models that nobody uses, as the policy says, and loads them again on the main thread when
// a request comes, which waits in the model's queue. A model that somebody has unloaded by name
// does not come back, since it has left the directory. Thread-safe. What it borrows must outlive
// it, and the main loop must be closed before it is destroyed.
class IdleModels {
 public:
  // The time for which requests wait for models in use to leave room for theirs.
  static constexpr std::chrono::seconds kMostWaitForRoom{10};
  // The time after a failed load during which further requests fail with its error at once, so that
  // a broken model does not keep the main thread at work.
  static constexpr std::chrono::seconds kFailureHolds{5};

  IdleModels(const IdlePolicy::Options& policy, ModelManager& manager, ModelDirectory& directory,
             Scheduler& scheduler, MainLoop& main_loop, Clock& clock = Clock::Real())
      : policy_(policy),
        manager_(manager),
        directory_(directory),
        scheduler_(scheduler),
        main_loop_(main_loop),
        clock_(clock) {}
  IdleModels(const IdleModels&) = delete;
  IdleModels& operator=(const IdleModels&) = delete;

  bool enabled() const { return policy_.enabled(); }

  // Unloads what the policy says, and lets loads that wait for room try again. Called every second
  // or so, on one thread. It may free weights.
  void Sweep() MILLRACE_EXCLUDES(mu_, unloading_mu_);
  // Main thread, before a model of so many bytes is loaded for whatever reason: unloads others for
  // it. Warns if there is not enough room, since that load is somebody's wish.
  void MakeRoomFor(std::string_view model, uint64_t bytes) MILLRACE_EXCLUDES(mu_, unloading_mu_);
  // Declares that the main loop runs nothing more after its present task. Requests that wait for
  // loads which have not begun end with UNAVAILABLE, as later ones do.
  void Stop() MILLRACE_EXCLUDES(mu_);

  void Collect(MetricWriter& writer) const;

 private:
  // The load that requests of a model wait for, or the end of the last one.
  struct Want {
    enum class State : uint8_t { kQueued, kNeedsRoom, kRuns, kFailed };
    State state = State::kQueued;
    TimePoint since{};                        // when it was wanted
    bool even_for_nobody = false;             // a client that was refused comes again
    std::shared_ptr<ServedModel> model = {};  // set while it needs room
    TimePoint fails_until{};                  // until then later requests fail likewise
    absl::Status failure = {};
  };
  // The task for the main loop.
  class Turn;

  // Called when a request waits for the model, or was refused as it had no time for that.
  void Wanted(const std::shared_ptr<ServedModel>& model, Hold::Job job) MILLRACE_EXCLUDES(mu_);
  void PostTurn(std::shared_ptr<ServedModel> model);
  // Main thread. Loads the model if it is still wanted.
  void RunTurn(const std::shared_ptr<ServedModel>& model) MILLRACE_EXCLUDES(mu_, unloading_mu_);
  // Returns true if a request holds the model, or somebody comes again for it. The caller holds
  // `references`.
  bool IsWanted(const std::shared_ptr<ServedModel>& model, long references) MILLRACE_EXCLUDES(mu_);
  // Sets the state of a load that is to go on; returns false if it is not, because of Stop.
  bool Advance(const std::shared_ptr<ServedModel>& model, Want::State state) MILLRACE_EXCLUDES(mu_);
  absl::Status Load(const std::shared_ptr<ServedModel>& model);
  // Ends a load and, unless the status is OK, the requests that wait for it. kHolds: later ones
  // fail likewise for a while.
  enum class Failure : uint8_t { kPasses, kHolds };
  void Settle(const std::shared_ptr<ServedModel>& model, const absl::Status& status,
              Failure failure = Failure::kPasses) MILLRACE_EXCLUDES(mu_);
  // Loads the model if requests came while its last load was being settled.
  void WantAgain(const std::shared_ptr<ServedModel>& model) MILLRACE_EXCLUDES(mu_);

  // Models in memory, and what the policy must know of them, in the same order.
  struct Inventory {
    std::vector<std::shared_ptr<ServedModel>> models;
    std::vector<IdlePolicy::Loaded> facts;
  };
  // `loading`: the model that is about to be loaded, an older version of which stays.
  Inventory Loaded(std::string_view loading = "") const;
  // Unloads as planned. Returns false if a model was used meanwhile and stays.
  bool Execute(const IdlePolicy::Plan& plan, Inventory& inventory) MILLRACE_REQUIRES(unloading_mu_);
  bool Unload(const std::shared_ptr<ServedModel>& model, IdlePolicy::Reason reason)
      MILLRACE_REQUIRES(unloading_mu_) MILLRACE_EXCLUDES(mu_);

  const IdlePolicy policy_;
  ModelManager& manager_;
  ModelDirectory& directory_;
  Scheduler& scheduler_;
  MainLoop& main_loop_;
  Clock& clock_;

  std::atomic<uint64_t> unloaded_idle_{0};
  std::atomic<uint64_t> unloaded_for_memory_{0};
  std::atomic<uint64_t> loads_{0};
  std::atomic<uint64_t> failed_loads_{0};
  std::atomic<Duration::rep> load_time_{0};

  // Held while models are unloaded, so that two threads do not keep each other from it by the
  // references that they hold.
  Mutex unloading_mu_;

  Mutex mu_;
  bool stopped_ MILLRACE_GUARDED_BY(mu_) = false;
  std::map<std::string, Want, std::less<>> wants_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
