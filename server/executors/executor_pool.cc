#include "server/executors/executor_pool.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/executors/executor_start.h"
#include "server/executors/executor_watch.h"
#include "server/executors/remote_model.h"
#include "server/logging/logging.h"

namespace millrace::server {
namespace {

using std::chrono::seconds;

// A model is given up after so many deaths in a row while it is loaded: the first one may have had
// another cause.
constexpr int kMostDeathsInLoad = 2;
// How often an executor tries again to load a model that served before and that it could not load.
constexpr seconds kLoadAgain{5};
// How often a wait for an executor looks whether it is still wanted.
constexpr std::chrono::milliseconds kLook{20};

}  // namespace

ExecutorPool::ExecutorPool(Options options, ExecutorLauncher& launcher, Clock& clock)
    : options_(std::move(options)), launcher_(launcher), clock_(clock), budget_(clock.Now()) {
  const MutexLock lock(mu_);
  for (int i = 0; i < config().executors + config().spare_executors; ++i) {
    Place& place = places_.emplace_back();
    if (const std::vector<int>& numbers = config().device_numbers; !numbers.empty())
      place.device = numbers[static_cast<size_t>(i) % numbers.size()];
    if (i >= config().executors) place.role = Role::kSpare;
  }
  stats_.executors = config().executors;
  stats_.spares = config().spare_executors;
}

ExecutorPool::~ExecutorPool() {
  MutexLock lock(mu_);
  stopping_ = true;
  waits_end_ = true;
  std::vector<std::shared_ptr<ExecutorLink>> links;
  for (const Place& place : places_) links.push_back(place.link);
  changed_.NotifyAll();
  lock.Unlock();
  for (const auto& link : links) {
    if (link != nullptr) link->Kill(DeathCause::kKilled, "the server stops");
  }
}

bool ExecutorPool::stopping() const {
  const MutexLock lock(mu_);
  return stopping_;
}

absl::Status ExecutorPool::Start() {
  const int places = config().executors + config().spare_executors;
  for (size_t i = 0; i < static_cast<size_t>(places); ++i)
    threads_.emplace_back([this, i] { Supervise(i); });
  const MutexLock lock(mu_);
  const auto started = [](const Place& place) { return place.started.has_value(); };
  while (!std::ranges::all_of(places_, started)) changed_.Wait(mu_);
  for (const Place& place : places_) {
    if (!place.started->ok()) return *place.started;
  }
  return absl::OkStatus();
}

void ExecutorPool::Supervise(size_t number) {
  RestartPolicy policy(options_.backoff);
  while (!stopping()) {
    std::shared_ptr<ExecutorLink> link;
    absl::Status status = BringUp(number, policy, link);
    const TimePoint begin = clock_.Now();
    const bool recycled = status.ok() && Listen(number, *link);
    bool killed = false;
    if (link != nullptr) {
      if (absl::IsDeadlineExceeded(status)) link->Kill(DeathCause::kSilent, Message(status));
      const ExecutorDeath death = TakeDeath(number, *link, recycled);
      killed = death.cause == DeathCause::kKilled;
      if (absl::IsUnavailable(status)) {
        status = Unavailable("an executor did not become ready: ", Message(status), " (", death.how,
                             ")");
      }
    }
    MutexLock lock(mu_);
    Place& place = places_[number];
    if (!place.started) {
      place.started = status;
      changed_.NotifyAll();
      return;
    }
    if (stopping_) return;
    if (!status.ok()) {
      ++stats_.starts_failed;
      logging::Error("an executor could not start", {{"error", Message(status)}});
    }
    if (recycled) {
      ++stats_.recycled;
      continue;
    }
    const TimePoint now = clock_.Now();
    const TimePoint next = now + policy.OnEnd({.started = status.ok(),
                                               .killed = killed,
                                               .worked = link != nullptr && link->worked(),
                                               .served = now - begin});
    if (config().executor_restart_limit > 0 &&
        policy.fruitless() >= config().executor_restart_limit && stats_.serving == 0) {
      stats_.gave_up = true;
      return;
    }
    while (!stopping_ && clock_.Now() < next) clock_.WaitUntil(changed_, mu_, next);
    ++stats_.restarts;
  }
}

absl::Status ExecutorPool::BringUp(size_t number, const RestartPolicy& policy,
                                   std::shared_ptr<ExecutorLink>& link) {
  ServerConfig settings = config();
  if (settings.executor_cpu_fallback && settings.device != runtime::DeviceType::kCpu &&
      policy.falls_back()) {
    // Settings of a device are not those of the processor.
    settings.device = runtime::DeviceType::kCpu;
    settings.device_numbers.clear();
    settings.mode.reset();
    settings.max_in_flight = 0;
    settings.accept_unsafe_concurrency = false;
    logging::Warning(
        "executors died on the device again and again: the next one computes on the processor");
  } else {
    const MutexLock lock(mu_);
    settings.device_numbers = {places_[number].device};
  }
  MILLRACE_RETURN_IF_ERROR(StartExecutor(
      {.lanes = options_.lanes,
       .patience = options_.patience,
       .version = options_.version,
       .settings = settings},
      launcher_, clock_, [this] { return !stopping(); }, link));
  if (policy.one_step_at_a_time()) {
    link->gate().SetOneAtATime(true);
    logging::Warning("executors died again and again: one step at a time runs in the next one",
                     {{"executor", link->name()}});
  }
  return GiveModels(number, link);
}

absl::StatusOr<LoadedModel> ExecutorPool::AwaitLoaded(ExecutorLink& link) {
  ExecutorHeartbeat heartbeat(link, clock_, options_.answer_limit);
  while (true) {
    MILLRACE_ASSIGN_OR_RETURN(auto message,
                              link.Receive([&] { return !stopping() && heartbeat.Beat(); }));
    if (auto* const loaded = std::get_if<LoadedModel>(&message)) return std::move(*loaded);
    heartbeat.OnMessage();
  }
}

absl::Status ExecutorPool::GiveModels(size_t number, const std::shared_ptr<ExecutorLink>& link) {
  std::vector<uint64_t> given;
  std::vector<ToExecutor> orders;
  const auto give = [&](uint64_t id, Wanted& wanted) {
    given.push_back(id);
    wanted.results[number].reset();
    orders.emplace_back(LoadOrder{id, wanted.name, wanted.version});
  };
  while (true) {
    orders.clear();
    {
      const MutexLock lock(mu_);
      const auto is_left = [&](uint64_t id, const Wanted& wanted) {
        // One that an executor did not survive is not tried again.
        const std::optional<absl::Status>& last = wanted.results[number];
        const bool survived = !last || last->ok() || wanted.deaths[number] == 0;
        return std::ranges::count(given, id) == 0 && survived;
      };
      for (auto& [id, wanted] : wanted_) {
        if (!wanted.serves || !is_left(id, wanted)) continue;
        give(id, wanted);
        break;
      }
      if (orders.empty()) {
        Place& place = places_[number];
        place.link = link;
        BeginToServe(place);
        place.started = absl::OkStatus();
        Promote();
        changed_.NotifyAll();
        for (const uint64_t id : given) {
          if (!wanted_.contains(id)) orders.emplace_back(UnloadOrder{id});
        }
        // The other models do not wait for a new one: nobody knows how long its load takes.
        for (auto& [id, wanted] : wanted_) {
          if (is_left(id, wanted)) give(id, wanted);
        }
        break;
      }
    }
    link->Tell(orders.front());
    MILLRACE_ASSIGN_OR_RETURN(auto loaded, AwaitLoaded(*link));
    TakeLoaded(number, *link, std::move(loaded));
  }
  for (const ToExecutor& order : orders) link->Tell(order);
  return absl::OkStatus();
}

void ExecutorPool::TakeLoaded(size_t number, ExecutorLink& link, LoadedModel loaded) {
  const MutexLock lock(mu_);
  const auto wanted = wanted_.find(loaded.model);
  if (wanted == wanted_.end()) return;  // nobody wants it any more
  if (loaded.status.ok()) {
    link.AddModel(loaded.model);
    wanted->second.info = std::move(loaded.info);
  }
  wanted->second.deaths[number] = 0;
  wanted->second.results[number] = std::move(loaded.status);
  changed_.NotifyAll();
}

bool ExecutorPool::Listen(size_t number, ExecutorLink& link) {
  ExecutorHeartbeat heartbeat(link, clock_, options_.answer_limit);
  MemoryWatch memory(link, clock_);
  const TimePoint begin = clock_.Now();
  TimePoint next_load = begin + kLoadAgain;
  bool recycled = false;
  while (true) {
    auto message = link.Receive([&] {
      if (stopping() || !heartbeat.Beat()) return false;
      if (clock_.Now() - begin >= RestartPolicy::kForgiven) link.gate().SetOneAtATime(false);
      LoadAgain(number, link, next_load);
      recycled = MayEnd(number, config().executor_max_growth > 0 ? memory.Look() : std::nullopt);
      return !recycled;
    });
    if (absl::IsDeadlineExceeded(message.status())) {
      link.Kill(DeathCause::kSilent, recycled     ? "it was recycled"
                                     : stopping() ? "the server stops"
                                                  : "it did not say that it lives");
    }
    if (!message.ok()) return recycled;
    heartbeat.OnMessage();
    if (auto* const loaded = std::get_if<LoadedModel>(&*message))
      TakeLoaded(number, link, std::move(*loaded));
  }
}

void ExecutorPool::LoadAgain(size_t number, ExecutorLink& link, TimePoint& next) {
  const TimePoint now = clock_.Now();
  if (now < next) return;
  next = now + kLoadAgain;
  std::vector<ToExecutor> orders;
  {
    const MutexLock lock(mu_);
    for (auto& [id, wanted] : wanted_) {
      std::optional<absl::Status>& result = wanted.results[number];
      if (!wanted.serves || !result || result->ok() || wanted.deaths[number] > 0) continue;
      result.reset();
      orders.emplace_back(LoadOrder{id, wanted.name, wanted.version});
    }
  }
  for (const ToExecutor& order : orders) link.Tell(order);
}

bool ExecutorPool::MayEnd(size_t number, std::optional<uint64_t> memory) {
  const Duration max_age = config().executor_max_age;
  if (max_age <= Duration{} && config().executor_max_growth == 0) return false;
  const MutexLock lock(mu_);
  Place& place = places_[number];
  // The place and the thread that listens hold it; requests get it from the place, under the lock,
  // and none does while it retires.
  if (place.role == Role::kRetiring) return place.link.use_count() == 2;
  if (place.role != Role::kServing) return false;
  const bool is_old = max_age > Duration{} && clock_.Now() - place.serves_since >= max_age;
  if (memory && place.memory && !place.grows && place.memory->Add(*memory)) {
    place.grows = true;
    logging::Warning("the memory of an executor grows, so that a spare one will take its place",
                     {{"executor", place.link->name()}, {"bytes", *memory}});
  }
  if (!is_old && !place.grows) return false;
  Place* const spare = FindReady(Role::kSpare, place.device);
  if (spare == nullptr) return false;
  spare->role = Role::kServing;
  BeginToServe(*spare);
  place.role = Role::kRetiring;
  UpdateServing();
  changed_.NotifyAll();
  return false;
}

void ExecutorPool::BeginToServe(Place& place) {
  place.serves_since = clock_.Now();
  place.grows = false;
  place.memory.reset();
  if (config().executor_max_growth > 0) place.memory.emplace(config().executor_max_growth);
}

ExecutorPool::Place* ExecutorPool::FindReady(Role role, int device) {
  for (Place& place : places_) {
    if (place.role == role && place.device == device && place.link != nullptr &&
        place.link->alive())
      return &place;
  }
  return nullptr;
}

void ExecutorPool::Promote() {
  for (Place& place : places_) {
    if (place.role != Role::kServing || place.link != nullptr) continue;
    Place* successor = FindReady(Role::kSpare, place.device);
    if (successor == nullptr) successor = FindReady(Role::kRetiring, place.device);
    if (successor == nullptr) continue;
    place.role = Role::kSpare;
    successor->role = Role::kServing;
    BeginToServe(*successor);
  }
  UpdateServing();
}

ExecutorDeath ExecutorPool::TakeDeath(size_t number, ExecutorLink& link, bool recycled) {
  {
    const MutexLock lock(mu_);
    Place& place = places_[number];
    place.link.reset();
    if (place.role == Role::kRetiring) place.role = Role::kSpare;
    Promote();
    changed_.NotifyAll();
  }
  ExecutorDeath death = link.Reap();
  NoteDeath(number, death, recycled);
  // Its requests go on or end from here on, and what they tell is true then.
  link.Announce(death);
  if (options_.crashes != nullptr && !recycled && !stopping()) ReportDeath(link, death);
  return death;
}

void ExecutorPool::ReportDeath(const ExecutorLink& link, const ExecutorDeath& death) {
  CrashFacts facts{.id = death.id,
                   .process = "executor",
                   .pid = link.pid(),
                   .cause = ToString(death.cause),
                   .how = death.how,
                   .version = options_.version};
  SetToNow(facts);
  options_.crashes->Write(facts, *ReadCrashPage(link.crash_page()));
}

void ExecutorPool::NoteDeath(size_t number, const ExecutorDeath& death, bool recycled) {
  const MutexLock lock(mu_);
  // Loads that it had not done.
  for (auto& [id, wanted] : wanted_) {
    if (wanted.results[number]) continue;
    // Its successor tries again, unless the model is to blame.
    int deaths = 0;
    if (!recycled && (death.Blames() || death.cause == DeathCause::kSilent)) {
      ++wanted.deaths[number];
      // All executors load a new one at once.
      deaths = wanted.serves ? wanted.deaths[number]
                             : std::reduce(wanted.deaths.begin(), wanted.deaths.end());
    }
    if (deaths >= kMostDeathsInLoad) {
      wanted.results[number] =
          Internal("an executor died while it loaded model '", wanted.name, "': ", death.how);
    } else if (wanted.info) {
      wanted.results[number] = absl::OkStatus();
    }
  }
  changed_.NotifyAll();
  if (stopping_) return;
  if (recycled) {
    logging::Info("an executor was recycled", {{"executor", death.id}});
    return;
  }
  ++stats_.deaths[static_cast<size_t>(death.cause)];
  logging::Error("an executor died",
                 {{"executor", death.id}, {"cause", ToString(death.cause)}, {"how", death.how}});
}

void ExecutorPool::UpdateServing() {
  stats_.serving = 0;
  stats_.spares_ready = 0;
  for (const Place& place : places_) {
    if (place.link == nullptr) continue;
    if (place.role == Role::kServing) ++stats_.serving;
    if (place.role == Role::kSpare) ++stats_.spares_ready;
  }
  if (stats_.serving > 0) {
    without_since_.reset();
  } else if (!without_since_) {
    without_since_ = clock_.Now();
  }
}

absl::StatusOr<std::unique_ptr<models::Model>> ExecutorPool::Load(std::string_view name,
                                                                  int64_t version) {
  uint64_t id = 0;
  absl::Status status;
  std::optional<models::ModelInfo> info;
  {
    MutexLock lock(mu_);
    id = next_model_++;
    Wanted& wanted = wanted_[id];
    wanted.name = name;
    wanted.version = version;
    wanted.results.resize(places_.size());
    wanted.deaths.resize(places_.size());
    const LoadOrder order{id, wanted.name, version};
    // An executor that is being started gets it with the others.
    std::vector<std::shared_ptr<ExecutorLink>> links;
    for (const Place& place : places_) {
      if (place.link != nullptr) links.push_back(place.link);
    }
    lock.Unlock();
    for (const auto& link : links) link->Tell(order);
    lock.Lock();
    const auto has_result = [](const auto& result) { return result.has_value(); };
    while (!stopping_ && !std::ranges::all_of(wanted.results, has_result)) changed_.Wait(mu_);
    if (stopping_) status = Unavailable("the server is shutting down");
    for (const auto& result : wanted.results) {
      if (result) status.Update(*result);
    }
    info = wanted.info;
    wanted.serves = status.ok();
  }
  if (status.ok() && info) return std::make_unique<RemoteModel>(*std::move(info), id, *this);
  Unload(id);
  return status;
}

void ExecutorPool::Unload(uint64_t model) {
  std::vector<std::shared_ptr<ExecutorLink>> links;
  {
    const MutexLock lock(mu_);
    wanted_.erase(model);
    for (const Place& place : places_) {
      if (place.link != nullptr) links.push_back(place.link);
    }
  }
  for (const auto& link : links) link->Tell(UnloadOrder{model});
}

void ExecutorPool::EndWaits() {
  const MutexLock lock(mu_);
  waits_end_ = true;
  changed_.NotifyAll();
}

absl::StatusOr<std::shared_ptr<ExecutorLink>> ExecutorPool::Choose(
    uint64_t model, absl::FunctionRef<bool()> keep_waiting) {
  MutexLock lock(mu_);
  while (true) {
    const std::shared_ptr<ExecutorLink>* best = nullptr;
    // Each request that has its state there holds a reference. A step is counted only once it runs,
    // but holds a reference from here on.
    const auto load = [](const std::shared_ptr<ExecutorLink>& link) {
      return std::pair(link->steps(), link.use_count());
    };
    for (const Place& place : places_) {
      const auto& link = place.link;
      if (place.role != Role::kServing || link == nullptr || !link->alive() || !link->Has(model))
        continue;
      if (best == nullptr || load(link) < load(*best)) best = &link;
    }
    if (best != nullptr) return *best;
    if (waits_end_) return Unavailable("the server is shutting down");
    const auto wanted = wanted_.find(model);
    const auto failed = [](const auto& result) { return result && !result->ok(); };
    if (wanted == wanted_.end()) return Internal("a step of a model that is not loaded");
    if (std::ranges::all_of(wanted->second.results, failed)) {
      return Internal("model '", wanted->second.name,
                      "' could not be loaded again after an executor died: ",
                      Message(*wanted->second.results.front()));
    }
    lock.Unlock();
    if (!keep_waiting()) return absl::CancelledError("nobody waits for the executor any more");
    lock.Lock();
    clock_.WaitUntil(changed_, mu_, clock_.Now() + kLook);
  }
}

ExecutorPool::Stats ExecutorPool::stats() const {
  const MutexLock lock(mu_);
  Stats stats = stats_;
  stats.replays = replays_.load(std::memory_order_relaxed);
  stats.convicted = convictions_.load(std::memory_order_relaxed);
  if (without_since_) stats.without = clock_.Now() - *without_since_;
  for (const Place& place : places_) {
    if (place.role == Role::kServing && place.link != nullptr)
      stats.served_for.emplace_back(place.link->name(), clock_.Now() - place.serves_since);
  }
  return stats;
}

}  // namespace millrace::server
