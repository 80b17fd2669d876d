#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/core/model_info.h"

namespace millrace {

enum class ModelState : uint8_t { kAvailable, kLoading, kReady, kFailed, kIdle };

// Returns "AVAILABLE", "LOADING", "READY", "FAILED" or "IDLE".
std::string_view ToString(ModelState state);

// Returns true if a model in this state takes requests: it is in memory, or loaded for the next
// one.
constexpr bool TakesRequests(ModelState state) {
  return state == ModelState::kReady || state == ModelState::kIdle;
}

// The state of a model, as clients may see it.
struct ModelStatusView {
  ModelState state = ModelState::kAvailable;
  std::string error;       // why it is kFailed
  models::ModelInfo info;  // name and version always; the rest once its config could be read
};

// The state of the server that the HTTP endpoints may report. Thread-safe; calls are short and
// never wait for a model.
class ServerView {
 public:
  virtual ~ServerView() = default;

  virtual std::string Version() const = 0;
  virtual bool Live() const = 0;
  // Returns true if every model is warm and requests are accepted.
  virtual bool Ready() const = 0;
  // Returns what is out of order although requests may be served; empty: nothing is.
  virtual std::string Degraded() const { return {}; }
  // Returns the models sorted by name.
  virtual std::vector<ModelStatusView> Models() const = 0;
  virtual std::optional<ModelStatusView> FindModel(std::string_view name) const = 0;
};

}  // namespace millrace
