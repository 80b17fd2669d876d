#include "server/requests/server_view.h"

namespace millrace {

std::string_view ToString(ModelState state) {
  switch (state) {
    case ModelState::kAvailable:
      return "AVAILABLE";
    case ModelState::kLoading:
      return "LOADING";
    case ModelState::kReady:
      return "READY";
    case ModelState::kFailed:
      return "FAILED";
    case ModelState::kIdle:
      return "IDLE";
  }
  return "UNKNOWN";
}

}  // namespace millrace
