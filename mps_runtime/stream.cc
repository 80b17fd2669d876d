#include "mps_runtime/stream.h"

#include <array>

namespace millrace::runtime {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"cpu", "cuda", "mps"};  // by DeviceType

}  // namespace

std::string_view ToString(DeviceType device) { return kNames[static_cast<size_t>(device)]; }

std::optional<DeviceType> ParseDeviceType(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<DeviceType>(i);
  }
  return std::nullopt;
}

}  // namespace millrace::runtime
