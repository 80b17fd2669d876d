#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace millrace::server {

// A published model that is to be fetched before a load.
struct PullOrder {
  std::string published;    // its name, such as "firefox/en-de"
  bool license_ok = false;  // its licence may allow no commercial use
};

// Begins to fetch and load a model of that name in the repository, and returns at once what cancels
// it. `done` is called once with the outcome, on any thread, unless an error is returned. Null:
// nothing may be fetched.
using PullAction = std::function<absl::StatusOr<std::function<void()>>(
    std::string model, PullOrder order, std::function<void(const absl::Status&)> done)>;

// Returns the error for an order where nothing may be fetched.
absl::Status NoPull();
// Returns an error for a name that no published model has.
absl::Status CheckPublishedName(std::string_view name);

}  // namespace millrace::server
