#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/core/model.h"
#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/base/mutex.h"
#include "server/config/server_config.h"
#include "server/crashes/crash_folder.h"
#include "server/executors/control_messages.h"
#include "server/executors/convicted_requests.h"
#include "server/executors/executor_link.h"
#include "server/executors/executor_process.h"
#include "server/executors/memory_trend.h"
#include "server/executors/replay_policy.h"
#include "server/executors/restart_policy.h"

namespace millrace::server {

// The executors of a server: starts them, gives them its models, and starts one that has died again
// with the models that it had. Each has a thread here that listens to it. Thread-safe.
class ExecutorPool {
 public:
  struct Options {
    // The server's settings, of which there is one executor at least, and the device is known. The
    // devices are those of the executors, and then of the spares, in turn.
    ServerConfig config = {};
    size_t lanes = 1;          // the number of workers of the front, each with a connection
    std::string version = {};  // this program's
    Duration answer_limit =
        std::chrono::seconds(10);  // how long an executor may take to say that it lives
    // See RestartPolicy.
    std::vector<Duration> backoff = {std::chrono::seconds(0), std::chrono::seconds(1),
                                     std::chrono::seconds(2), std::chrono::seconds(4),
                                     std::chrono::seconds(8)};
    std::chrono::milliseconds patience{20};  // how often waits look for cancelled requests
    CrashFolder* crashes = nullptr;          // gets a report of each death; null: nothing does
  };

  // Snapshot of what has happened since the start.
  struct Stats {
    int executors = 0;
    int serving = 0;
    int spares = 0;
    int spares_ready = 0;
    std::array<uint64_t, kDeathCauses> deaths = {};  // by DeathCause
    uint64_t starts_failed = 0;
    uint64_t restarts = 0;
    uint64_t recycled = 0;
    uint64_t replays = 0;
    uint64_t convicted = 0;
    // For how long no executor has served; 0 if one does.
    Duration without{};
    bool gave_up = false;  // executors that complete no step are started no more
    // The name of each executor that serves, and for how long it has.
    std::vector<std::pair<std::string, Duration>> served_for;
  };

  // The launcher, the clock and the folder must outlive it.
  ExecutorPool(Options options, ExecutorLauncher& launcher, Clock& clock = Clock::Real());
  ExecutorPool(const ExecutorPool&) = delete;
  ExecutorPool& operator=(const ExecutorPool&) = delete;
  // Ends all executors. No model of theirs may be left.
  ~ExecutorPool();

  // Starts the executors and waits until each is ready to load models. The first failure is
  // returned, and stops all.
  absl::Status Start() MILLRACE_EXCLUDES(mu_);
  // Loads a model in all executors and warms it up there. Returns what stands for it in the front,
  // which must not outlive this. Fails as the load did. One thread at a time.
  absl::StatusOr<std::unique_ptr<models::Model>> Load(std::string_view name, int64_t version)
      MILLRACE_EXCLUDES(mu_);
  void Unload(uint64_t model) MILLRACE_EXCLUDES(mu_);
  // From now on nobody waits for an executor: Choose fails.
  void EndWaits() MILLRACE_EXCLUDES(mu_);

  // Returns the executor for the next request of a model, the one with the fewest steps and,
  // among those, the fewest requests. Waits for one that has the model; asks from time to time
  // whether to go on, and fails with CANCELLED otherwise. Fails with INTERNAL when no successor
  // could load it, UNAVAILABLE after EndWaits.
  absl::StatusOr<std::shared_ptr<ExecutorLink>> Choose(uint64_t model,
                                                       absl::FunctionRef<bool()> keep_waiting)
      MILLRACE_EXCLUDES(mu_);

  const ServerConfig& config() const { return options_.config; }
  Clock& clock() const { return clock_; }
  uint64_t NextRequestId() { return next_request_.fetch_add(1, std::memory_order_relaxed); }
  ReplayBudget& budget() { return budget_; }
  ConvictedRequests& convicted() { return convicted_; }
  void CountReplay() { replays_.fetch_add(1, std::memory_order_relaxed); }
  void CountConvicted() { convictions_.fetch_add(1, std::memory_order_relaxed); }

  Stats stats() const MILLRACE_EXCLUDES(mu_);

 private:
  // A model that executors have, or shall have.
  struct Wanted {
    std::string name;
    int64_t version = 0;
    std::optional<models::ModelInfo> info;  // once one of them has loaded it
    bool serves = false;                    // it is no longer being loaded for the first time
    std::vector<std::optional<absl::Status>> results;  // the last load of each executor
    std::vector<int> deaths;  // in a row, of each executor while it loaded the model
  };
  enum class Role : uint8_t {
    kServing,
    kSpare,
    kRetiring,  // another one has taken its place, and it ends once its requests have
  };
  // One executor and its successors.
  struct Place {
    int device = 0;  // a spare stands in for executors of its own device alone
    Role role = Role::kServing;
    std::shared_ptr<ExecutorLink> link;   // has all models; null: there is none
    TimePoint serves_since{};             // if it serves
    std::optional<MemoryTrend> memory;    // if it serves and its growth is limited
    bool grows = false;                   // too much
    std::optional<absl::Status> started;  // how the first start ended
  };

  void Supervise(size_t place) MILLRACE_EXCLUDES(mu_);
  // Starts an executor up to where it has all models. `link` is set as soon as there is one.
  absl::Status BringUp(size_t place, const RestartPolicy& policy,
                       std::shared_ptr<ExecutorLink>& link) MILLRACE_EXCLUDES(mu_);
  // Receives the end of a load, which takes as long as it takes while the executor says that it
  // lives.
  absl::StatusOr<LoadedModel> AwaitLoaded(ExecutorLink& link) MILLRACE_EXCLUDES(mu_);
  // Gives it all models that serve, lets it serve, and gives it those that are being loaded.
  absl::Status GiveModels(size_t place, const std::shared_ptr<ExecutorLink>& link)
      MILLRACE_EXCLUDES(mu_);
  // Listens until it is dead. Returns true if it was recycled.
  bool Listen(size_t place, ExecutorLink& link) MILLRACE_EXCLUDES(mu_);
  // Has it load what it could not load, as for want of descriptors, if that is due.
  void LoadAgain(size_t place, ExecutorLink& link, TimePoint& next) MILLRACE_EXCLUDES(mu_);
  // Gives its role to a spare if it is too old, or has grown too much. Returns true once it may
  // end. memory: what it takes, if that was looked at.
  bool MayEnd(size_t place, std::optional<uint64_t> memory) MILLRACE_EXCLUDES(mu_);
  void TakeLoaded(size_t place, ExecutorLink& link, LoadedModel loaded) MILLRACE_EXCLUDES(mu_);
  ExecutorDeath TakeDeath(size_t place, ExecutorLink& link, bool recycled) MILLRACE_EXCLUDES(mu_);
  void NoteDeath(size_t place, const ExecutorDeath& death, bool recycled) MILLRACE_EXCLUDES(mu_);
  void ReportDeath(const ExecutorLink& link, const ExecutorDeath& death);
  bool stopping() const MILLRACE_EXCLUDES(mu_);
  // Returns the first one of the role and the device that is ready; null if there is none.
  Place* FindReady(Role role, int device) MILLRACE_REQUIRES(mu_);
  void BeginToServe(Place& place) MILLRACE_REQUIRES(mu_);
  // Has those that are ready serve in place of those that are not.
  void Promote() MILLRACE_REQUIRES(mu_);
  void UpdateServing() MILLRACE_REQUIRES(mu_);

  const Options options_;
  ExecutorLauncher& launcher_;
  Clock& clock_;
  std::atomic<uint64_t> next_request_{1};
  std::atomic<uint64_t> replays_{0};
  std::atomic<uint64_t> convictions_{0};
  ReplayBudget budget_;
  ConvictedRequests convicted_;

  mutable Mutex mu_;
  CondVar changed_;
  bool stopping_ MILLRACE_GUARDED_BY(mu_) = false;
  bool waits_end_ MILLRACE_GUARDED_BY(mu_) = false;
  uint64_t next_model_ MILLRACE_GUARDED_BY(mu_) = 1;
  std::map<uint64_t, Wanted> wanted_ MILLRACE_GUARDED_BY(mu_);
  std::deque<Place> places_ MILLRACE_GUARDED_BY(mu_);
  Stats stats_ MILLRACE_GUARDED_BY(mu_);
  std::optional<TimePoint> without_since_ MILLRACE_GUARDED_BY(mu_);

  std::vector<JoiningThread> threads_;  // declared last: they use everything above
};

}  // namespace millrace::server
