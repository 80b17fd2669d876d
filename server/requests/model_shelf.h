#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/model_info.h"
#include "models/repository/model_config.h"
#include "server/requests/pull_action.h"

namespace millrace::server {

// A model of the repository, whether it is loaded or not.
struct ShelfModel {
  models::ModelInfo info;  // name and version always; the rest unless there is an error
  models::ModelOrigin origin = {};
  uint64_t bytes = 0;      // the size of its files
  bool removable = false;  // it lies in the folder that models are fetched into
  std::string error = {};  // why its package cannot be read
};

// The models that the repository has, and those that could be fetched. Thread-safe.
struct ModelShelf {
  // Returns the models of the repository. It reads their folders.
  std::function<absl::StatusOr<std::vector<ShelfModel>>()> installed;
  // Asks the hubs, until `stop` returns true. Null: nothing may be fetched or removed.
  std::function<absl::StatusOr<PublishedModels>(const std::function<bool()>& stop)> published;
  std::string folder = {};  // models are fetched into it
};

}  // namespace millrace::server
