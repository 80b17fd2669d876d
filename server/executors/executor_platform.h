#pragma once

#include "mps_runtime/platform.h"

namespace millrace::server {

// The workers that suit a card of CUDA, as its backend says.
inline constexpr int kWorkersOfACard = 2;

// The platform of a server whose executors compute on a device, by default the processor. It has a
// lane for each worker, which waits for executors and computes nothing. Loads no libtorch; what it
// says of it is what executors load, who check that themselves.
const runtime::Platform& ExecutorPlatform();

}  // namespace millrace::server
