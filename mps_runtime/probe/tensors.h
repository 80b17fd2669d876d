#pragma once

#include <ATen/core/Tensor.h>

#include "mps_runtime/stream.h"

namespace millrace::runtime {

// Where tensors of a runtime's device live.
at::Device TensorDevice(DeviceType device);

// Numbers in -1..1 that look irregular and are the same on every machine; no generator, whose state
// all threads would share.
at::Tensor Numbers(at::IntArrayRef shape, at::Device device, int seed);

// Same numbers: exactly on the CPU, within rounding where the order of additions is the device's
// choice. Both on the host.
bool SameNumbers(const at::Tensor& expected, const at::Tensor& actual, DeviceType device);

}  // namespace millrace::runtime
