#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace millrace::runtime {

// What the host side of two forwards may do at once.
enum class ForwardMode : uint8_t {
  kParallel,    // everything: bounded by the limiter alone
  kEncodeLock,  // wait for the device: one thread at a time submits work
  kSerial,      // nothing: one mutex around the whole forward, the baseline
};

// "parallel", "encode-lock" or "serial".
std::string_view ToString(ForwardMode mode);
std::optional<ForwardMode> ParseForwardMode(std::string_view name);

}  // namespace millrace::runtime
