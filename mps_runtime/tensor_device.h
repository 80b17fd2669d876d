#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "mps_runtime/device_traits.h"

namespace millrace::runtime {

// Returns the ATen device on which the tensors of a runtime's device live.
inline at::Device TensorDevice(DeviceType device) {
  return at::Device(std::string(TraitsOf(device).libtorch_name));
}

}  // namespace millrace::runtime
