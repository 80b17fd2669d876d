#pragma once

#include <cstdint>

namespace millrace::mps_standin {

// Returns how often nn.Linear's kernel without a graph was used so far, by all threads.
int64_t LinearKernelCalls();

}  // namespace millrace::mps_standin
