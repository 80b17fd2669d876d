#include "mps_runtime/probe/tensors.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/sin.h>

namespace millrace::runtime {

at::Tensor Numbers(at::IntArrayRef shape, at::Device device, int seed) {
  int64_t count = 1;
  for (const int64_t dim : shape) count *= dim;
  const at::Tensor ramp = at::arange(count, at::TensorOptions().dtype(at::kFloat));
  return at::sin(ramp * 12.9898 + seed).reshape(shape).to(device);
}

bool SameNumbers(const at::Tensor& expected, const at::Tensor& actual, DeviceType device) {
  if (device == DeviceType::kCpu) return at::equal(expected, actual);
  return expected.sizes() == actual.sizes() && at::allclose(expected, actual, 1e-3, 1e-4);
}

}  // namespace millrace::runtime
