#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/requests/pull_action.h"
#include "server/requests/server_view.h"

namespace millrace::server {

// Takes models into service and out of it. Thread-safe.
struct RepositoryActions {
  using Done = std::function<void(const absl::Status&)>;
  using Cancel = std::function<void()>;
  // Begins a load and returns at once. `done` is called once with its outcome, on any thread,
  // unless an error is returned. Cancel says that the caller has left.
  std::function<absl::StatusOr<Cancel>(std::string model, Done done)> load;
  std::function<absl::Status(std::string_view model)> unload;
  // Called for each load that is refused before `load`, because too many wait.
  std::function<void()> on_too_many = [] {};
  // Fetches a published model into the repository, then loads it as `load` does. Null: it may not.
  PullAction pull = nullptr;
  // Unloads a model and removes it from the repository. Null: it may not.
  RemoveAction remove = nullptr;
  // Returns true once the models of the start are loaded; until then requests get 503.
  std::function<bool()> started = [] { return true; };
  // Returns the models of the repository, sorted by name. It reads a folder.
  std::function<std::vector<ModelStatusView>()> models = [] {
    return std::vector<ModelStatusView>();
  };
};

}  // namespace millrace::server
