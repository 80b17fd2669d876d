#pragma once

#include <string>

#include "mps_runtime/backend.h"

namespace millrace::runtime {

// The CUDA backend is a module of its own, the only one that is linked with libtorch's CUDA
// libraries, so that the same program runs where there is no CUDA. It exports this function, in C
// so that it can be found by name. The function returns null and the reason when there is no usable
// GPU; the caller owns the result.
inline constexpr char kMakeCudaBackend[] = "MillraceMakeCudaBackend";
using MakeCudaBackendFunction = Backend* (*)(std::string* why_not);

}  // namespace millrace::runtime
