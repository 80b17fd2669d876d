#include "mps_runtime/backend.h"

#include <stdexcept>

namespace millrace::runtime {
namespace {

struct Maker {
  DeviceType device;
  std::unique_ptr<Backend> (*make)(std::string& why_not);
};

// The best device comes first.
constexpr Maker kMakers[] = {{DeviceType::kCuda, MakeCudaBackend},
                             {DeviceType::kMps, MakeMpsBackend},
                             {DeviceType::kCpu, MakeCpuBackend}};

}  // namespace

std::unique_ptr<Backend> MakeBackend(std::optional<DeviceType> device) {
  std::string why;
  for (const Maker& maker : kMakers) {
    if (device && *device != maker.device) continue;
    std::string why_not;
    if (std::unique_ptr<Backend> backend = maker.make(why_not)) return backend;
    why = why_not;
  }
  std::string available = "auto";
  for (const Maker& maker : kMakers) {
    std::string ignored;
    if (maker.device == *device || maker.make(ignored) == nullptr) continue;
    available += ", ";
    available += ToString(maker.device);
  }
  throw std::invalid_argument("device = " + std::string(ToString(*device)) +
                              ": is not available here (" + why + "); allowed are " + available);
}

}  // namespace millrace::runtime
