#pragma once

#include <cstdint>
#include <string_view>

namespace millrace::runtime {

// The ways in which the host sides of two forwards may overlap.
enum class ForwardMode : uint8_t {
  kParallel,    // they overlap freely; only the limiter bounds them
  kEncodeLock,  // they wait for the device together, but one thread at a time submits
  kSerial,      // they do not overlap: one mutex around the whole forward, the baseline
};

// Returns "parallel", "encode-lock" or "serial".
std::string_view ToString(ForwardMode mode);

}  // namespace millrace::runtime
