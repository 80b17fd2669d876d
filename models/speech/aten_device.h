#pragma once

#include <ATen/core/Tensor.h>

#include "mps_runtime/stream.h"

namespace millrace::speech {

inline at::Device ToAten(runtime::DeviceType device) {
  switch (device) {
    case runtime::DeviceType::kCuda:
      return at::Device(at::kCUDA);
    case runtime::DeviceType::kMps:
      return at::Device(at::kMPS);
    case runtime::DeviceType::kCpu:
      break;
  }
  return at::Device(at::kCPU);
}

}  // namespace millrace::speech
