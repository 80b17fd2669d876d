#pragma once

#include <ATen/core/Tensor.h>

#include "mps_runtime/tensor_device.h"

namespace millrace::runtime {

// Numbers in -1..1 that look irregular and are the same on every machine. No random generator is
// used, since all threads would share its state.
at::Tensor Numbers(at::IntArrayRef shape, at::Device device, int seed);

// Returns true if two tensors on the host have the same numbers: exactly on the CPU, within
// rounding where the device chooses the order of additions.
bool SameNumbers(const at::Tensor& expected, const at::Tensor& actual, DeviceType device);

}  // namespace millrace::runtime
