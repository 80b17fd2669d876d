#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
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

// Returns a state as Triton's index of the repository has it, which knows no others.
constexpr std::string_view IndexState(ModelState state) {
  if (TakesRequests(state)) return "READY";
  return state == ModelState::kLoading ? "LOADING" : "UNAVAILABLE";
}

// The value of a parameter of a load or an unload.
using LoadValue = std::variant<std::monostate, bool, std::string>;  // monostate: of another type

// Takes a parameter of an unload: `remove`. Clients of Triton always send unload_dependents, which
// has nothing to act on here: no model depends on another one.
absl::Status TakeUnloadParameter(std::string_view name, const LoadValue& value, bool& remove);

// Takes a parameter of a load into the order: `pull` and `license_ok`; unload_dependents is
// ignored. A model's configuration and files are those of the repository.
absl::Status TakeLoadParameter(std::string_view name, const LoadValue& value, PullOrder& order);

// Begins the load, after fetching if there is an order. Returns what cancels it.
absl::StatusOr<RepositoryActions::Cancel> BeginLoad(const RepositoryActions& actions,
                                                    std::string model, PullOrder order,
                                                    RepositoryActions::Done done);

// Unloads a model, and with `remove` removes it from the repository.
absl::Status Unload(const RepositoryActions& actions, std::string_view model, bool remove);

}  // namespace millrace::server
