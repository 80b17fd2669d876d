#pragma once

#include "mps_runtime/platform.h"

namespace millrace::runtime {

// The libtorch that this process has loaded, with the backends of this build.
const Platform& Libtorch();

}  // namespace millrace::runtime
