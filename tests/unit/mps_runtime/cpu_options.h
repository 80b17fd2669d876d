#pragma once

#include "mps_runtime/runtime.h"

namespace millrace::runtime {

inline RuntimeOptions Cpu() {
  RuntimeOptions options;
  options.device = DeviceType::kCpu;
  return options;
}

}  // namespace millrace::runtime
