#include "mps_runtime/stream.h"

#include <array>

namespace millrace::runtime {
namespace {

constexpr std::array<std::string_view, 3> kDeviceNames = {"cpu", "cuda", "mps"};  // by DeviceType

}  // namespace

std::string_view ToString(DeviceType device) { return kDeviceNames[static_cast<size_t>(device)]; }

std::optional<DeviceType> ParseDeviceType(std::string_view name) {
  for (size_t i = 0; i < kDeviceNames.size(); ++i) {
    if (kDeviceNames[i] == name) return static_cast<DeviceType>(i);
  }
  return std::nullopt;
}

}  // namespace millrace::runtime
