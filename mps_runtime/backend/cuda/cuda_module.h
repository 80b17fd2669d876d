#pragma once

#include <string>

#include "mps_runtime/backend.h"

namespace millrace::runtime {

// The CUDA backend is a module of its own, so that the same program runs where there is no CUDA: it
// alone is linked with libtorch's CUDA libraries. This is what it exports, in C so that it is found
// by name. Null with the reason when there is no usable GPU; the caller owns the result.
inline constexpr char kMakeCudaBackend[] = "MillraceMakeCudaBackend";
using MakeCudaBackendFunction = Backend* (*)(std::string* why_not);

}  // namespace millrace::runtime
