#include "server/control/model_manager.h"

#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include "models/core/strings.h"
#include "server/logging/logging.h"
#include "server/scheduling/step.h"

namespace millrace::server {

absl::Status ModelManager::LoadAndWarmUp(std::string_view name) {
  const absl::StatusOr<models::ModelRepository::Package> package = repository_.Find(name);
  if (!package.ok()) return package.status();
  if (may_serve_ != nullptr) {
    if (absl::Status status = may_serve_(*package); !status.ok()) return status;
  }
  // Logged so that a slow start shows what it is doing.
  logging::Info("loading model", {{"model", name}, {"version", package->version}});
  absl::StatusOr<std::unique_ptr<models::Model>> model = repository_.Load(name, package->version);
  if (!model.ok()) return model.status();
  logging::Info("warming up model", {{"model", name}, {"version", package->version}});
  main_context_.Synchronize();  // the weights must be there before another stream reads them
  if (absl::Status status = WarmUp(**model, device_, main_context_); !status.ok()) return status;
  auto metrics = metrics_.ForModel((*model)->info().name, (*model)->info().task());
  directory_.Put(std::make_shared<ServedModel>(*std::move(model), scheduler_, std::move(metrics)));
  return absl::OkStatus();
}

absl::Status ModelManager::Load(std::string_view name) {
  if (absl::Status status = models::CheckModelName(name); !status.ok()) return status;
  {
    MutexLock lock(mu_);
    attempts_.insert_or_assign(std::string(name), Attempt{});
  }
  Announce(name, true);
  const auto start = std::chrono::steady_clock::now();
  absl::Status status;
  try {
    status = LoadAndWarmUp(name);
  } catch (const std::exception& error) {  // such as std::bad_alloc; models in service stay
    status = absl::InternalError(StrCat("model '", name, "' could not be loaded: ", error.what()));
  }
  {
    MutexLock lock(mu_);
    if (status.ok() || absl::IsNotFound(status)) {
      attempts_.erase(attempts_.find(name));
    } else {
      attempts_[std::string(name)] = {ModelState::kFailed, std::string(Message(status))};
    }
  }
  Announce(name, !absl::IsNotFound(status));
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
  if (absl::Status status = repository_.Check(); !status.ok()) return status;
  const auto entries = repository_.List();
  if (!entries.ok()) return entries.status();
  int loaded = 0;
  for (const auto& entry : *entries) {
    if (stop()) return absl::OkStatus();
    loaded += Load(entry.name).ok();
  }
  if (loaded == 0) {
    return absl::FailedPreconditionError(StrCat("none of the ", entries->size(), " models in ",
                                                repository_.sources(), " could be loaded"));
  }
  return absl::OkStatus();
}

absl::Status ModelManager::Unload(std::string_view name) {
  if (absl::Status status = models::CheckModelName(name); !status.ok()) return status;
  if (!directory_.Remove(name))
    return absl::NotFoundError(StrCat("model: '", name, "' is not loaded"));
  Announce(name, true);
  logging::Info("model unloaded", {{"model", name}});
  return absl::OkStatus();
}

std::vector<std::string> ModelManager::Failed() const {
  std::vector<std::string> names;
  MutexLock lock(mu_);
  for (const auto& [name, attempt] : attempts_) {
    if (attempt.state == ModelState::kFailed) names.push_back(name);
  }
  return names;
}

void ModelManager::SetListener(Listener listener) {
  MutexLock lock(listener_mu_);
  listener_ = std::move(listener);
  if (listener_ == nullptr) return;
  {
    MutexLock attempts_lock(mu_);
    for (const auto& [name, attempt] : attempts_) listener_(name, false);
  }
  for (const auto& model : directory_.All()) listener_(model->info().name, true);
}

void ModelManager::Announce(std::string_view name, bool exists) {
  MutexLock lock(listener_mu_);
  if (listener_ == nullptr) return;
  const bool ready = directory_.Find(name, "").ok();
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
    view.state = ModelState::kReady;
    view.info = model->info();
  }
  {
    MutexLock lock(mu_);
    for (const auto& [name, attempt] : attempts_) {
      ModelStatusView& view = views[name];
      view.info.name = name;
      view.error = attempt.error;
      // A failed attempt at a new version leaves the old one in service.
      if (view.state != ModelState::kReady) view.state = attempt.state;
    }
  }
  std::vector<ModelStatusView> all;
  all.reserve(views.size());
  for (auto& [name, view] : views) all.push_back(std::move(view));
  return all;
}

}  // namespace millrace::server
