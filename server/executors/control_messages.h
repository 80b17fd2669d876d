#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/core/model_info.h"
#include "server/config/server_config.h"

// The messages of the control connection between the front and an executor.
namespace millrace::server {

// The version of the protocol that this program speaks.
inline constexpr uint32_t kProtocolVersion = 3;

// An executor loads a version of a model, warms it up and answers with LoadedModel.
struct LoadOrder {
  uint64_t model = 0;  // a new number, which names it from then on
  std::string name;    // in the folders of models
  int64_t version = 0;
};

// No request of the model is left.
struct UnloadOrder {
  uint64_t model = 0;
};

// The front wants nothing more of a request. If it is not in a step it is forgotten at once. One
// that is unknown has ended meanwhile.
struct CancelOrder {
  uint64_t request = 0;
};

// The next step of the request may be far away.
struct SuspendOrder {
  uint64_t request = 0;
};

// The executor answers with ExecutorAlive at once, and takes the level of the log: the front's may
// have changed.
struct PingOrder {
  LogLevel log_level = LogLevel::kInfo;
};

// The first message has the settings: those that an executor needs. Its device_numbers are the one
// of its card, if it has one.
using ToExecutor =
    std::variant<ServerConfig, LoadOrder, UnloadOrder, CancelOrder, SuspendOrder, PingOrder>;

// The first message of an executor.
struct ExecutorHello {
  uint32_t protocol = 0;
  std::string version;  // the program's
};

// The executor is ready to load models, or says why it never will be.
struct ExecutorReady {
  absl::Status status;
};

struct LoadedModel {
  uint64_t model = 0;  // the number that the order names
  absl::Status status;
  std::optional<models::ModelInfo> info;  // if it is loaded
};

struct ExecutorAlive {};

using FromExecutor = std::variant<ExecutorHello, ExecutorReady, LoadedModel, ExecutorAlive>;

std::string WriteControl(const ToExecutor& message);
std::string WriteControl(const FromExecutor& message);
// These fail with INVALID_ARGUMENT in one line for a message that WriteControl does not write.
absl::StatusOr<ToExecutor> ReadToExecutor(std::string_view header);
absl::StatusOr<FromExecutor> ReadFromExecutor(std::string_view header);

}  // namespace millrace::server
