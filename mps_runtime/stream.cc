#include "mps_runtime/stream.h"

#include <algorithm>

#include "mps_runtime/device_traits.h"

namespace millrace::runtime {

std::string_view ToString(DeviceType device) { return TraitsOf(device).name; }

std::string DeviceNames(std::string_view last_separator) {
  std::string names;
  for (const DeviceTraits& device : kDeviceTraits) {
    if (!names.empty()) names += &device == &kDeviceTraits.back() ? last_separator : ", ";
    names += device.name;
  }
  return names;
}

std::optional<DeviceType> ParseDeviceType(std::string_view name) {
  const auto* const found = std::ranges::find(kDeviceTraits, name, &DeviceTraits::name);
  if (found == kDeviceTraits.end()) return std::nullopt;
  return static_cast<DeviceType>(found - kDeviceTraits.begin());
}

}  // namespace millrace::runtime
