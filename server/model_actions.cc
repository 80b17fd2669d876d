#include "server/model_actions.h"

#include <map>
#include <string>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/repository/model_sources.h"
#include "models/repository/package_size.h"
#include "models/repository/remove_model.h"
#include "server/logging/logging.h"

namespace millrace::server {

RepositoryActions ModelActions::MakeRepositoryActions() {
  return {
      .load = [this](std::string model,
                     RepositoryActions::Done done) -> absl::StatusOr<RepositoryActions::Cancel> {
        MILLRACE_RETURN_IF_ERROR(models::CheckModelName(model));
        const auto ticket = loads_.Add(std::move(model), std::move(done));
        if (!ticket.ok()) return ticket.status();
        return [this, ticket = *ticket] { loads_.Cancel(ticket); };
      },
      .unload = [this](std::string_view model) { return models_.Unload(model); },
      .on_too_many = [this] { CountTooMany(); },
      .pull = MakePullAction(),
      .remove = MakeRemoveAction(),
      .started = [this] { return state_.started(); },
      .models = [this] { return models_.Models(); }};
}

// Counts what is refused for want of room and is no request to a model.
void ModelActions::CountTooMany() { no_model_metrics_.CountRefusal(Refusal::kTooMany); }

// Returns the folder that callers may change; nothing if they may change none.
std::optional<std::filesystem::path> ModelActions::FolderForCallers() const {
  const auto folder = models::FolderForNewModels(config_.models);
  if (!config_.allow_pull || !folder.ok()) return std::nullopt;
  return *folder;
}

RemoveAction ModelActions::MakeRemoveAction() {
  const auto folder = FolderForCallers();
  if (!folder) return nullptr;
  return [this, folder = *folder](std::string_view model) {
    // It is known to be there before anybody misses it.
    if (!std::filesystem::is_directory(folder / model))
      return NotFound(folder.string(), ": has no model '", model, "'");
    if (absl::Status status = models_.Unload(model); !status.ok() && !absl::IsNotFound(status))
      return status;
    absl::Status status = models::RemoveModel(folder, model);
    if (status.ok()) logging::Info("model removed", {{"model", std::string(model)}});
    return status;
  };
}

// Runs on threads of HTTP.
ModelShelf ModelActions::MakeShelf() {
  const auto folder = FolderForCallers();
  ModelShelf sources;
  sources.installed = [this, folder] { return ListInstalled(folder); };
  if (!folder) return sources;
  sources.folder = folder->string();
  sources.published = [this, folder = *folder](const std::function<bool()>& stop) {
    return ListPublished(folder, [this, &stop] { return state_.stopping() || stop(); });
  };
  return sources;
}

absl::StatusOr<std::vector<ShelfModel>> ModelActions::ListInstalled(
    const std::optional<std::filesystem::path>& folder) const {
  MILLRACE_ASSIGN_OR_RETURN(const auto entries, repository_.List());
  std::map<std::string, models::ModelInfo> loaded;
  for (ModelStatusView& view : models_.Models()) {
    if (view.state == ModelState::kReady) loaded[view.info.name] = std::move(view.info);
  }
  std::vector<ShelfModel> models;
  for (const models::ModelRepository::Entry& entry : entries) {
    ShelfModel& model = models.emplace_back();
    model.info.name = entry.name;
    model.info.version = entry.versions.back();
    model.removable = folder && entry.folder == *folder / entry.name;
    const auto package = repository_.Find(entry);
    if (!package.ok()) {
      model.error = std::string(Message(package.status()));
      continue;
    }
    // Only the weights tell all languages of some models.
    const auto found = loaded.find(entry.name);
    model.info = found != loaded.end()
                     ? std::move(found->second)
                     : models::MakeModelInfo(package->config, entry.name, package->version);
    model.origin = package->config.origin;
    model.bytes = models::SizeOf(*package);
  }
  return models;
}

// Null unless callers may have models fetched.
PullAction ModelActions::MakePullAction() {
  const auto folder = FolderForCallers();
  if (!folder) return nullptr;
  return [this, folder = *folder](std::string model, PullOrder order,
                                  PullQueue::Done done) -> absl::StatusOr<std::function<void()>> {
    const auto ticket = pulls_.Add({.names = {std::move(order.published)},
                                    .folder = folder,
                                    .as = std::move(model),
                                    .license_ok = order.license_ok},
                                   std::move(done));
    if (!ticket.ok()) {
      if (absl::IsResourceExhausted(ticket.status())) CountTooMany();
      return ticket.status();
    }
    return [this, ticket = *ticket] { pulls_.Cancel(ticket); };
  };
}

}  // namespace millrace::server
