#pragma once

#include <vector>

#include "models/core/payload.h"
#include "mps_runtime/stream.h"

namespace millrace::models {

// Whether two answers to one request are the same: on the CPU to the last bit; elsewhere numbers
// may differ by what rounding can do where the order of additions is the device's choice. Text,
// shapes and lengths are the same everywhere.
bool SameOutputs(const std::vector<Output>& expected, const std::vector<Output>& actual,
                 runtime::DeviceType device);

}  // namespace millrace::models
