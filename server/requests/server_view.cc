#include "server/requests/server_view.h"

#include <cstddef>

namespace millrace {

std::string_view ToString(ModelState state) {
  static constexpr std::string_view kNames[] = {"AVAILABLE", "LOADING", "READY", "FAILED", "IDLE"};
  return kNames[static_cast<size_t>(state)];
}

}  // namespace millrace
