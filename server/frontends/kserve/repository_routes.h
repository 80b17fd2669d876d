#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/http/http_server.h"
#include "server/security/api_key_store.h"

namespace millrace::server {

// Takes models into service and out of it. Thread-safe.
struct RepositoryActions {
  using Done = std::function<void(const absl::Status&)>;
  using Cancel = std::function<void()>;
  // Begins a load and returns at once. `done` is called once with its outcome, on any thread,
  // unless an error is returned. Cancel says that the caller has left.
  std::function<absl::StatusOr<Cancel>(std::string model, Done done)> load;
  std::function<absl::Status(std::string_view model)> unload;
  // Returns true once the models of the start are loaded; until then requests get 503.
  std::function<bool()> started = [] { return true; };
};

// Adds POST /v2/repository/models/{model}/load and /unload of Triton's model repository extension,
// with the rights of AdminService: with keys (may be null) they need one of an admin, without them
// AuthorizeHttpAdmin decides. A load is answered when it has ended.
void AddRepositoryRoutes(HttpServer& server, RepositoryActions actions, const ApiKeyStore* keys);

}  // namespace millrace::server
