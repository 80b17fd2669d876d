#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "models/repository/model_repository.h"
#include "server/config/server_config.h"
#include "server/control/load_queue.h"
#include "server/control/main_loop.h"
#include "server/control/model_manager.h"
#include "server/control/pull_models.h"
#include "server/control/pull_queue.h"
#include "server/metrics/model_metrics.h"
#include "server/requests/model_shelf.h"
#include "server/requests/repository_actions.h"

namespace millrace::server {

// Has callers load, unload, fetch, remove and list the models of the repository. Thread-safe.
class ModelActions {
 public:
  struct State {
    std::function<bool()> started;
    std::function<bool()> stopping;
  };

  // All of these must outlive it.
  ModelActions(const ServerConfig& config, const models::ModelRepository& repository,
               ModelManager& models, MainLoop& main_loop, ModelMetrics& no_model_metrics,
               State state)
      : config_(config),
        repository_(repository),
        models_(models),
        no_model_metrics_(no_model_metrics),
        state_(std::move(state)),
        loads_(
            main_loop, [this](std::string_view model) { return models_.Load(model); },
            [this] { CountTooMany(); }) {}

  RepositoryActions MakeRepositoryActions();
  ModelShelf MakeShelf();
  LoadQueue& loads() { return loads_; }
  PullQueue& pulls() { return pulls_; }

 private:
  void CountTooMany();
  std::optional<std::filesystem::path> FolderForCallers() const;
  RemoveAction MakeRemoveAction();
  absl::StatusOr<std::vector<ShelfModel>> ListInstalled(
      const std::optional<std::filesystem::path>& folder) const;
  PullAction MakePullAction();

  const ServerConfig& config_;
  const models::ModelRepository& repository_;
  ModelManager& models_;
  ModelMetrics& no_model_metrics_;
  const State state_;
  LoadQueue loads_;
  PullQueue pulls_{PullModels, [this](std::string model, const PullQueue::Done& done) {
                     // The load queue does not call it if it takes no more.
                     const auto ticket = loads_.Add(std::move(model), done);
                     if (!ticket.ok()) done(ticket.status());
                   }};
};

}  // namespace millrace::server
