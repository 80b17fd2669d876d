#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/requests/pull_action.h"
#include "server/requests/repository_actions.h"
#include "server/requests/server_view.h"

namespace millrace::server {

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
