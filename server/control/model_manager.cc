#include "server/control/model_manager.h"

#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/repository/package_size.h"
#include "server/logging/logging.h"
#include "server/scheduling/step.h"

namespace millrace::server {
namespace {

bool IsServing(const ModelDirectory& directory, const std::shared_ptr<ServedModel>& model) {
  if (model == nullptr) return false;
  const auto serving = directory.Find(model->info().name, "");
  return serving.ok() && *serving == model;
}

}  // namespace

absl::Status ModelManager::LoadAndWarmUp(std::string_view name, const FindPackage& find,
                                         const std::shared_ptr<ServedModel>& idle) {
  const auto start = std::chrono::steady_clock::now();
  MILLRACE_ASSIGN_OR_RETURN(const models::ModelRepository::Package package, find());
  if (may_serve_ != nullptr) {
    MILLRACE_RETURN_IF_ERROR(may_serve_(package));
  }
  // Logged so that a slow start shows what it is doing.
  logging::Info("loading model", {{"model", name}, {"version", package.version}});
  MILLRACE_ASSIGN_OR_RETURN(std::unique_ptr<models::Model> model, repository_.Load(package));
  logging::Info("warming up model", {{"model", name}, {"version", package.version}});
  main_context_.Synchronize();  // the weights must be there before another stream reads them
  MILLRACE_RETURN_IF_ERROR(WarmUp(*model, device_, main_context_));
  const LoadCost cost{.bytes = models::SizeOf(package),
                      .time = std::chrono::steady_clock::now() - start};
  MILLRACE_RETURN_IF_ERROR(PutInService(std::move(model), cost, idle));
  MutexLock lock(mu_);
  origins_.insert_or_assign(std::string(name), package.config.origin);
  return absl::OkStatus();
}

models::ModelOrigin ModelManager::OriginOf(std::string_view name) const {
  MutexLock lock(mu_);
  const auto found = origins_.find(name);
  return found == origins_.end() ? models::ModelOrigin() : found->second;
}

absl::Status ModelManager::PutInService(std::unique_ptr<const models::Model> model, LoadCost cost,
                                        std::shared_ptr<ServedModel> idle) {
  const bool on_demand = idle != nullptr;
  const std::string name = model->info().name;
  if (!on_demand) {
    // Requests may wait for an idle one, which becomes this model if it can.
    auto serving = directory_.Find(name, "");
    if (serving.ok() && !(*serving)->loaded()) idle = *std::move(serving);
  }
  if (idle != nullptr && idle->MayBecome(model->info()) && directory_.Load(idle, model, cost)) {
    idle->Release();
    return absl::OkStatus();
  }
  auto metrics = metrics_.ForModel(name, model->info().task());
  auto served =
      std::make_shared<ServedModel>(std::move(model), scheduler_, std::move(metrics), cost);
  if (!on_demand) {
    directory_.Put(std::move(served));
  } else if (!directory_.Replace(idle, std::move(served))) {
    return NotFound("model: '", name, "' was unloaded while it was loaded");
  }
  if (idle != nullptr) {
    idle->EndHeld(Unavailable(
        "model '", name, "' was replaced while the request waited for it to be loaded; try again"));
  }
  return absl::OkStatus();
}

absl::Status ModelManager::Load(std::string_view name) {
  MILLRACE_RETURN_IF_ERROR(models::CheckModelName(name));
  return Load(
      name, [&] { return repository_.Find(name); }, nullptr);
}

absl::Status ModelManager::LoadIdle(const std::shared_ptr<ServedModel>& idle) {
  const models::ModelInfo& info = idle->info();
  return Load(
      info.name, [&] { return repository_.Find(info.name, info.version); }, idle);
}

absl::Status ModelManager::Load(std::string_view name, const FindPackage& find,
                                std::shared_ptr<ServedModel> idle) {
  {
    MutexLock lock(mu_);
    attempts_.insert_or_assign(std::string(name), Attempt{});
  }
  Announce(name, true);
  const auto start = std::chrono::steady_clock::now();
  absl::Status status;
  try {
    status = LoadAndWarmUp(name, find, idle);
  } catch (const std::exception& error) {  // such as std::bad_alloc; models in service stay
    status = Internal("model '", name, "' could not be loaded: ", error.what());
  }
  // An idle model whose package is gone is one that failed, unlike one that somebody unloaded.
  if (absl::IsNotFound(status) && IsServing(directory_, idle))
    status = FailedPrecondition(status.message());
  {
    MutexLock lock(mu_);
    if (status.ok() || absl::IsNotFound(status)) {
      attempts_.erase(attempts_.find(name));
    } else {
      attempts_[std::string(name)] = {ModelState::kFailed, std::string(Message(status))};
    }
  }
  Announce(name, idle != nullptr || !absl::IsNotFound(status));
  if (status.ok()) {
    logging::Info("model loaded", {{"model", name},
                                   {"seconds", Seconds(std::chrono::steady_clock::now() - start)}});
  } else {
    // A model that does not exist is a mistake of the caller.
    if (!absl::IsNotFound(status)) load_failures_.fetch_add(1, std::memory_order_relaxed);
    logging::Error("model not loaded", {{"model", name}, {"error", Message(status)}});
  }
  return status;
}

absl::Status ModelManager::LoadAll(const std::function<bool()>& stop) {
  MILLRACE_RETURN_IF_ERROR(repository_.Check());
  MILLRACE_ASSIGN_OR_RETURN(const auto entries, repository_.List());
  for (const std::string& line : repository_.Ignored()) logging::Warning(line);
  int loaded = 0;
  for (const auto& entry : entries) {
    if (stop()) return absl::OkStatus();
    loaded += Load(
                  entry.name, [&] { return repository_.Find(entry); }, nullptr)
                  .ok();
  }
  if (loaded == 0) {
    return FailedPrecondition("none of the ", entries.size(), " models in ", repository_.sources(),
                              " could be loaded");
  }
  return absl::OkStatus();
}

absl::Status ModelManager::Unload(std::string_view name) {
  MILLRACE_RETURN_IF_ERROR(models::CheckModelName(name));
  const std::shared_ptr<ServedModel> removed = directory_.Remove(name);
  if (removed == nullptr) return NotFound("model '", name, "' is not loaded");
  if (!removed->loaded()) {
    removed->EndHeld(
        NotFound("model: '", name, "' was unloaded while the request waited for it to be loaded"));
  }
  Announce(name, true);
  logging::Info("model unloaded", {{"model", name}});
  return absl::OkStatus();
}

void ModelManager::Collect(MetricWriter& writer) const {
  MetricWriter::Family depth =
      writer.Gauges("millrace_queue_depth", "Requests that wait in the model's queue.");
  MetricWriter::Family oldest =
      writer.Gauges("millrace_queue_oldest_seconds",
                    "Time that the oldest request in the model's queue has waited.");
  MetricWriter::Family expected =
      writer.Gauges("millrace_expected_wait_seconds",
                    "Forecast of the time that a request that came now would wait, by which "
                    "requests are admitted.");
  MetricWriter::Family ready =
      writer.Gauges("millrace_models_ready", "1 for each model that takes requests.");
  MetricWriter::Family idle =
      writer.Gauges("millrace_model_idle",
                    "1 for each model that is not in memory until its next request; 0 for the "
                    "others that take requests.");
  MetricWriter::Family memory =
      writer.Gauges("millrace_model_memory_bytes",
                    "Estimated memory of the model: the size of its package's files; 0 while it "
                    "is idle.");
  std::map<std::string, bool> load_failed;  // a failed load may leave an older version in service
  for (const auto& model : directory_.All()) {
    const models::ModelInfo& info = model->info();
    const bool loaded = model->loaded();
    const Scheduler::QueueLoad load = scheduler_.load(model->queue());
    const MetricWriter::Labels name = {{"model", info.name}};
    depth.Add(load.depth, name);
    oldest.Add(Seconds(load.oldest), name);
    expected.Add(load.expected_wait, name);
    ready.Add(1, {{"model", info.name},
                  {"version", StrCat(info.version)},
                  {"task", std::string(models::ToString(info.task()))}});
    idle.Add(loaded ? 0 : 1, name);
    memory.Add(loaded ? model->cost().bytes : 0, name);
    load_failed[info.name] = false;
  }
  {
    MutexLock lock(mu_);
    for (const auto& [name, attempt] : attempts_) {
      if (attempt.state == ModelState::kFailed) load_failed[name] = true;
    }
  }
  writer.Counter("millrace_model_load_failures_total",
                 "Models that could not be loaded, counted at each attempt.",
                 load_failures_.load(std::memory_order_relaxed));
  MetricWriter::Family failed = writer.Gauges(
      "millrace_model_load_failed",
      "1 for each model whose last load failed, be it that an older version serves; 0 for the "
      "others that are loaded.");
  for (const auto& [name, has_failed] : load_failed)
    failed.Add(has_failed ? 1 : 0, {{"model", name}});
}

void ModelManager::SetListener(Listener listener) {
  MutexLock lock(listener_mu_);
  listener_ = std::move(listener);
  if (listener_ == nullptr) return;
  {
    MutexLock attempts_lock(mu_);
    for (const auto& [name, attempt] : attempts_) listener_(name, false);
  }
  for (const auto& model : directory_.All()) {
    if (const std::string& name = model->info().name; IsReady(name)) listener_(name, true);
  }
}

bool ModelManager::IsReady(std::string_view name) const {
  const auto model = directory_.Find(name, "");
  if (!model.ok() || (*model)->loaded()) return model.ok();
  MutexLock lock(mu_);
  const auto attempt = attempts_.find(name);
  return attempt == attempts_.end() || attempt->second.state != ModelState::kFailed;
}

void ModelManager::Announce(std::string_view name, bool exists) {
  MutexLock lock(listener_mu_);
  if (listener_ == nullptr) return;
  const bool ready = IsReady(name);
  listener_(name, ready || exists ? std::optional(ready) : std::nullopt);
}

std::vector<ModelStatusView> ModelManager::Models() const {
  std::map<std::string, ModelStatusView, std::less<>> views;
  if (const auto entries = repository_.List(); entries.ok()) {
    for (const auto& entry : *entries) {
      ModelStatusView& view = views[entry.name];
      view.info.name = entry.name;
      view.info.version = entry.versions.back();
    }
  }
  for (const auto& model : directory_.All()) {
    ModelStatusView& view = views[model->info().name];
    view.state = model->loaded() ? ModelState::kReady : ModelState::kIdle;
    view.info = model->info();
  }
  {
    MutexLock lock(mu_);
    for (const auto& [name, attempt] : attempts_) {
      ModelStatusView& view = views[name];
      view.info.name = name;
      view.error = attempt.error;
      // A failed attempt at a new version leaves the old one in service, and an idle model takes
      // requests while it is loaded.
      const bool serves =
          view.state == ModelState::kReady ||
          (view.state == ModelState::kIdle && attempt.state == ModelState::kLoading);
      if (!serves) view.state = attempt.state;
    }
  }
  std::vector<ModelStatusView> all;
  all.reserve(views.size());
  for (auto& [name, view] : views) all.push_back(std::move(view));
  return all;
}

}  // namespace millrace::server
