#include "server/control/idle_models.h"

#include <iterator>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/logging/logging.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {
namespace {

std::string_view NameOf(IdlePolicy::Reason reason) {
  return reason == IdlePolicy::Reason::kIdle ? "idle" : "memory";
}

}  // namespace

// If the loop destroys it without running it, no load will run any more.
class IdleModels::Turn {
 public:
  Turn(IdleModels& owner, std::shared_ptr<ServedModel> model)
      : owner_(&owner), model_(std::move(model)) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (owner_ != nullptr) owner_->Settle(model_, Draining());
  }
  void Run() { std::exchange(owner_, nullptr)->RunTurn(model_); }

 private:
  IdleModels* owner_;
  const std::shared_ptr<ServedModel> model_;
};

void IdleModels::Wanted(const std::shared_ptr<ServedModel>& model, Hold::Job job) {
  if (model->loaded()) return;
  const bool refused = job == Hold::Job::kWasRefused;
  absl::Status failure;
  {
    MutexLock lock(mu_);
    const TimePoint now = clock_.Now();
    const auto found = wants_.find(model->info().name);
    const bool known = found != wants_.end();
    if (known && found->second.state != Want::State::kFailed) {
      found->second.even_for_nobody |= refused;
      return;
    }
    if (stopped_) {
      failure = Draining();
    } else if (known && now < found->second.fails_until) {
      failure = found->second.failure;
    } else {
      wants_[model->info().name] = {.since = now, .even_for_nobody = refused};
    }
  }
  if (failure.ok()) {
    PostTurn(model);
  } else {
    model->EndHeld(failure);
  }
}

void IdleModels::PostTurn(std::shared_ptr<ServedModel> model) {
  // shared, because std::function requires a copyable callable
  main_loop_.Post([turn = std::make_shared<Turn>(*this, std::move(model))] { turn->Run(); });
}

bool IdleModels::IsWanted(const std::shared_ptr<ServedModel>& model, long references) {
  // Others that hold it are requests, perhaps before their job.
  if (model.use_count() > references) return true;
  MutexLock lock(mu_);
  const auto found = wants_.find(model->info().name);
  return found != wants_.end() && found->second.even_for_nobody;
}

bool IdleModels::Advance(const std::shared_ptr<ServedModel>& model, Want::State state) {
  MutexLock lock(mu_);
  const auto found = wants_.find(model->info().name);
  if (stopped_ || found == wants_.end()) return false;
  found->second.state = state;
  found->second.model = state == Want::State::kNeedsRoom ? model : nullptr;
  return true;
}

void IdleModels::RunTurn(const std::shared_ptr<ServedModel>& model) {
  const std::string name = model->info().name;
  const auto serving = directory_.Find(name, "");
  if (!serving.ok()) {
    return Settle(model, NotFound("model: '", name,
                                  "' was unloaded while the request waited for it to be loaded"));
  }
  if (*serving != model) {
    return Settle(model,
                  Unavailable("model '", name,
                              "' was replaced while the request waited for it to be loaded; try "
                              "again"));
  }
  constexpr long kOwnReferences = 3;  // the directory, the turn and `serving`
  if (model->loaded() || !IsWanted(model, kOwnReferences)) return Settle(model, absl::OkStatus());
  bool fits = true;
  {
    MutexLock lock(unloading_mu_);
    Inventory inventory = Loaded(name);
    const IdlePolicy::Plan plan = policy_.BeforeLoad(inventory.facts, model->cost().bytes);
    fits = plan.fits && Execute(plan, inventory);
  }
  if (!Advance(model, fits ? Want::State::kRuns : Want::State::kNeedsRoom))
    return Settle(model, Draining());
  if (!fits) return;
  const absl::Status status = Load(model);
  // NOT_FOUND: the model was unloaded by name meanwhile, which is no failure of its load.
  if (status.ok() || absl::IsNotFound(status)) return Settle(model, status);
  Settle(model,
         Unavailable("model '", name, "' was idle and could not be loaded: ", Message(status)),
         Failure::kHolds);
}

absl::Status IdleModels::Load(const std::shared_ptr<ServedModel>& model) {
  const TimePoint start = clock_.Now();
  absl::Status status = manager_.LoadIdle(model);
  load_time_.fetch_add((clock_.Now() - start).count(), std::memory_order_relaxed);
  (status.ok() ? loads_ : failed_loads_).fetch_add(1, std::memory_order_relaxed);
  return status;
}

void IdleModels::Settle(const std::shared_ptr<ServedModel>& model, const absl::Status& status,
                        Failure failure) {
  {
    MutexLock lock(mu_);
    if (failure == Failure::kHolds) {
      wants_[model->info().name] = {.state = Want::State::kFailed,
                                    .fails_until = clock_.Now() + kFailureHolds,
                                    .failure = status};
    } else {
      wants_.erase(model->info().name);
    }
  }
  if (!status.ok()) model->EndHeld(status);
  WantAgain(model);
  // Requests of one that has taken its place meanwhile were told that a load is pending.
  const auto serving = directory_.Find(model->info().name, "");
  if (serving.ok() && *serving != model) WantAgain(*serving);
}

void IdleModels::WantAgain(const std::shared_ptr<ServedModel>& model) {
  if (!model->loaded() && scheduler_.depth(model->queue()) != 0) Wanted(model, Hold::Job::kWaits);
}

void IdleModels::Stop() {
  std::string running;  // the main thread ends its load
  {
    MutexLock lock(mu_);
    stopped_ = true;
    for (auto want = wants_.begin(); want != wants_.end();) {
      const bool runs = want->second.state == Want::State::kRuns;
      if (runs) running = want->first;
      want = runs ? std::next(want) : wants_.erase(want);
    }
  }
  for (const auto& model : directory_.All()) {
    if (!model->loaded() && model->info().name != running) model->EndHeld(Draining());
  }
}

IdleModels::Inventory IdleModels::Loaded(std::string_view loading) const {
  Inventory inventory;
  for (auto& model : directory_.All()) {
    if (!model->loaded()) continue;
    const Scheduler::QueueUse use = scheduler_.use(model->queue());
    inventory.facts.push_back({.bytes = model->cost().bytes,
                               .last_used = use.last_used,
                               .in_use = use.busy || model->info().name == loading});
    inventory.models.push_back(std::move(model));
  }
  return inventory;
}

bool IdleModels::Execute(const IdlePolicy::Plan& plan, Inventory& inventory) {
  bool all = true;
  for (const IdlePolicy::Unload& unload : plan.unload) {
    std::shared_ptr<ServedModel>& model = inventory.models[unload.model];
    all &= Unload(model, unload.reason);
    model.reset();  // frees the weights
  }
  return all;
}

bool IdleModels::Unload(const std::shared_ptr<ServedModel>& model, IdlePolicy::Reason reason) {
  // Parked jobs and requests that are about to queue one hold it too. Making the idle one costs
  // something, so a model in use is recognised before that.
  constexpr long kOwnReferences = 2;
  if (model.use_count() > kOwnReferences) return false;
  {
    MutexLock lock(mu_);
    wants_.erase(model->info().name);  // it has been loaded since that failed
  }
  auto idle = ServedModel::MakeIdle(*model, [this](const std::shared_ptr<ServedModel>& wanted,
                                                   Hold::Job job) { Wanted(wanted, job); });
  if (!directory_.ReplaceUnused(model, std::move(idle))) return false;
  std::atomic<uint64_t>& count =
      reason == IdlePolicy::Reason::kIdle ? unloaded_idle_ : unloaded_for_memory_;
  count.fetch_add(1, std::memory_order_relaxed);
  logging::Info("model is idle", {{"model", model->info().name}, {"reason", NameOf(reason)}});
  return true;
}

void IdleModels::Sweep() {
  std::vector<std::shared_ptr<ServedModel>> retry;
  std::vector<std::shared_ptr<ServedModel>> refused;
  {
    MutexLock lock(mu_);
    const TimePoint now = clock_.Now();
    for (auto& [name, want] : wants_) {
      if (want.state != Want::State::kNeedsRoom) continue;
      auto& list = now - want.since >= kMostWaitForRoom ? refused : retry;
      list.push_back(std::exchange(want.model, nullptr));
      want.state = Want::State::kQueued;
    }
  }
  for (const auto& model : refused) {
    Settle(model,
           Refused(Refusal::kLoading,
                   StrCat("model '", model->info().name,
                          "' is idle and cannot be loaded now: the models in use leave no room for "
                          "it within --model-memory-budget"),
                   std::chrono::seconds(1)));
  }
  for (auto& model : retry) PostTurn(std::move(model));
  MutexLock lock(unloading_mu_);
  Inventory inventory = Loaded();
  const IdlePolicy::Plan plan = policy_.Now(inventory.facts, clock_.Now());
  Execute(plan, inventory);
}

void IdleModels::MakeRoomFor(std::string_view model, uint64_t bytes) {
  bool fits = true;
  {
    MutexLock lock(unloading_mu_);
    Inventory inventory = Loaded(model);
    const IdlePolicy::Plan plan = policy_.BeforeLoad(inventory.facts, bytes);
    fits = Execute(plan, inventory) && plan.fits;
  }
  if (fits && (policy_.options().memory_budget == 0 || bytes <= policy_.options().memory_budget))
    return;
  logging::Warning("models exceed the memory budget",
                   {{"model", model},
                    {"bytes", static_cast<int64_t>(bytes)},
                    {"budget", static_cast<int64_t>(policy_.options().memory_budget)}});
}

void IdleModels::Collect(MetricWriter& writer) const {
  const auto read = [](const auto& count) { return count.load(std::memory_order_relaxed); };
  MetricWriter::Family unloads = writer.Counters(
      "millrace_model_unloads_total",
      "Models that were unloaded because they were idle, or to keep the memory budget.");
  unloads.Add(read(unloaded_idle_), {{"reason", "idle"}});
  unloads.Add(read(unloaded_for_memory_), {{"reason", "memory"}});
  MetricWriter::Family loads = writer.Counters("millrace_model_loads_on_demand_total",
                                               "Loads of idle models for a request.");
  loads.Add(read(loads_), {{"outcome", "ok"}});
  loads.Add(read(failed_loads_), {{"outcome", "failed"}});
  writer.Counter("millrace_model_load_on_demand_seconds_total",
                 "Time that loading idle models for a request took.",
                 Seconds(Duration(read(load_time_))));
  size_t waiting = 0;
  for (const auto& model : directory_.All()) {
    if (!model->loaded()) waiting += scheduler_.depth(model->queue());
  }
  writer.Gauge("millrace_requests_waiting_for_load",
               "Requests that wait for an idle model to be loaded.", waiting);
}

}  // namespace millrace::server
