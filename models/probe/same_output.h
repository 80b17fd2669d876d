#pragma once

#include <vector>

#include "models/core/payload.h"
#include "mps_runtime/stream.h"

namespace millrace::models {

// Returns true if two outputs of one request are equal: on the CPU bit for bit; elsewhere numbers
// may differ by rounding, because the device chooses the order of additions. Text, shapes and
// lengths must be equal everywhere.
bool SameOutputs(const std::vector<Output>& expected, const std::vector<Output>& actual,
                 runtime::DeviceType device);

}  // namespace millrace::models
