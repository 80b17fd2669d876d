#pragma once

#include <functional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "server/requests/model_shelf.h"

namespace millrace::server {

// Describes the models that the repository has, and those that could be fetched, to the page that
// shows them. Thread-safe; what it borrows must outlive it.
class ShelfView {
 public:
  explicit ShelfView(ModelShelf shelf) : shelf_(std::move(shelf)) {}

  // Returns a JSON object with the models that are there. may_admin: the reader may change them.
  absl::StatusOr<std::string> InstalledJson(bool may_admin) const;
  // Returns a JSON object with the models that could be fetched. Takes seconds.
  absl::StatusOr<std::string> AvailableJson(const std::function<bool()>& stop) const;

 private:
  const ModelShelf shelf_;
};

}  // namespace millrace::server
