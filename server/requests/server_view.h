#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/core/model_info.h"

namespace millrace {

enum class ModelState : uint8_t { kAvailable, kLoading, kReady, kFailed };

// "AVAILABLE", "LOADING", "READY" or "FAILED".
std::string_view ToString(ModelState state);

// A model as the outside may see it.
struct ModelStatusView {
  ModelState state = ModelState::kAvailable;
  std::string error;       // why it is kFailed
  models::ModelInfo info;  // name and version always; the rest once its config could be read
};

// What the HTTP endpoints may know of the server. Thread-safe; calls are short and never wait for a
// model.
class ServerView {
 public:
  virtual ~ServerView() = default;

  virtual std::string Version() const = 0;
  virtual bool Live() const = 0;
  // Every model is warm and requests are accepted.
  virtual bool Ready() const = 0;
  // By name.
  virtual std::vector<ModelStatusView> Models() const = 0;
  virtual std::optional<ModelStatusView> FindModel(std::string_view name) const = 0;
};

}  // namespace millrace
