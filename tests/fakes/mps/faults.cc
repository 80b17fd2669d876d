#include "tests/fakes/mps/faults.h"

#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace millrace::mps_standin {

void Faults::Set(const std::string& text) {
  std::istringstream pairs(text);
  for (std::string pair; pairs >> pair;) {
    const size_t equal = pair.find('=');
    const std::string key = pair.substr(0, equal);
    const double value = equal == std::string::npos ? 1 : std::stod(pair.substr(equal + 1));
    if (key == "limit") {
      limit = static_cast<int>(value);
    } else if (key == "crash_probability") {
      crash_probability = value;
    } else if (key == "wrong_results") {
      wrong_results = value != 0;
    } else if (key == "hang") {
      hang = value != 0;
    } else if (key == "hang_on_compile") {
      hang_on_compile = value != 0;
    } else if (key == "encode_microseconds") {
      encode_microseconds = static_cast<int64_t>(value);
    } else if (key == "linear_microseconds") {
      linear_microseconds = static_cast<int64_t>(value);
    } else if (key == "gpu_microseconds") {
      gpu_microseconds = static_cast<int64_t>(value);
    } else if (key == "error_every") {
      error_every = static_cast<int64_t>(value);
    } else if (key == "memory_bytes") {
      memory_bytes = static_cast<int64_t>(value);
    } else if (key == "patch_level") {
      patch_level = static_cast<int>(value);
    } else if (key == "off_queue") {
      off_queue = value != 0;
    } else if (key == "shared_caches") {
      shared_caches = value != 0;
    } else {
      throw std::invalid_argument("MPS_STANDIN_FAULTS: unknown key " + key);
    }
  }
}

Faults& TheFaults() {
  static auto* const faults = [] {
    auto* const made = new Faults;
    if (const char* const text = std::getenv("MPS_STANDIN_FAULTS")) made->Set(text);
    return made;
  }();
  return *faults;
}

}  // namespace millrace::mps_standin
