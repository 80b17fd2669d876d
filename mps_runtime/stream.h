#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace millrace::runtime {

enum class DeviceType : uint8_t { kCpu, kCuda, kMps };

// Returns the name in options and messages; see DeviceTraits.
std::string_view ToString(DeviceType device);
// Parses a name that ToString returns; nullopt for any other ("auto" is left to the caller).
std::optional<DeviceType> ParseDeviceType(std::string_view name);

inline constexpr int kStreamSlots =
    32;  // slot 0 is the default stream, 1..31 are leased to workers
inline constexpr int kWorkerSlots = kStreamSlots - 1;
inline constexpr int kDefaultSlot = 0;

// Names an execution queue of the device. A small value: it owns nothing, and is only usable on the
// thread that it is bound to.
struct Stream {
  DeviceType device = DeviceType::kCpu;
  int slot = kDefaultSlot;  // 0..31

  friend bool operator==(const Stream&, const Stream&) = default;
};

}  // namespace millrace::runtime
