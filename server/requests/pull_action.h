#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace millrace::server {

// A published model that is to be fetched before a load.
struct PullOrder {
  std::string published;    // its name, such as "firefox/en-de"
  bool license_ok = false;  // its licence may allow no commercial use
};

// How far the fetching of a model is.
struct PullProgress {
  std::string file = {};    // being fetched; empty: none yet
  int64_t bytes = 0;        // for all files of the model
  int64_t size = 0;         // the size of all files; 0: not announced
  bool converting = false;  // all files are there
};
using PullListener = std::function<void(const PullProgress&)>;

// A model that is being fetched, or waits for that.
struct PullView {
  std::string model;      // its name in the repository
  std::string published;  // its published name
  bool waiting = false;
  PullProgress progress = {};
};

// The published models, as the hubs list them.
struct PublishedModels {
  std::vector<std::string> models;  // a JSON object each
  std::string notice;               // why the list is not complete; empty: it is
};

// Takes a model out of service if it serves, and removes its files from the repository. Null:
// nothing may be removed.
using RemoveAction = std::function<absl::Status(std::string_view model)>;

// Begins to fetch and load a model of that name in the repository, and returns at once what cancels
// it. `done` is called once with the outcome, on any thread, unless an error is returned. Null:
// nothing may be fetched.
using PullAction = std::function<absl::StatusOr<std::function<void()>>(
    std::string model, PullOrder order, std::function<void(const absl::Status&)> done)>;

// Return the errors where nothing may be fetched or removed.
absl::Status NoPull();
absl::Status NoRemove();
// Returns an error for a name that no published model has.
absl::Status CheckPublishedName(std::string_view name);

}  // namespace millrace::server
