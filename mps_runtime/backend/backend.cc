#include "mps_runtime/backend.h"

#include <stdexcept>

namespace millrace::runtime {
namespace {

struct Maker {
  DeviceType device;
  std::unique_ptr<Backend> (*make)();
};

// Best first.
constexpr Maker kMakers[] = {{DeviceType::kCuda, MakeCudaBackend},
                             {DeviceType::kMps, MakeMpsBackend},
                             {DeviceType::kCpu, MakeCpuBackend}};

}  // namespace

std::unique_ptr<Backend> MakeBackend(std::optional<DeviceType> device) {
  std::string available = "auto";
  for (const Maker& maker : kMakers) {
    std::unique_ptr<Backend> backend = maker.make();
    if (backend == nullptr) continue;
    if (!device || *device == maker.device) return backend;
    available += ", ";
    available += ToString(maker.device);
  }
  throw std::invalid_argument("device = " + std::string(ToString(*device)) +
                              ": this build has no such backend, or the machine no such device; "
                              "allowed are " +
                              available);
}

}  // namespace millrace::runtime
