#include "server/executors/sticky_errors.h"

#include <algorithm>
#include <array>

namespace millrace::server {
namespace {

// The texts of CUDA's runtime for errors that "leave the process in an inconsistent state", behind
// libtorch's "CUDA error: ", and Metal's for a process whose work it has given up.
constexpr std::array<std::string_view, 12> kStickyErrors = {
    "CUDA error: an illegal memory access was encountered",
    "CUDA error: an illegal instruction was encountered",
    "CUDA error: device-side assert triggered",
    "CUDA error: hardware stack error",
    "CUDA error: invalid program counter",
    "CUDA error: misaligned address",
    "CUDA error: operation not supported on global/shared address space",
    "CUDA error: the launch timed out and was terminated",
    "CUDA error: uncorrectable ECC error encountered",
    "CUDA error: uncorrectable NVLink error detected during the execution",
    "CUDA error: unspecified launch failure",
    "kIOGPUCommandBufferCallbackErrorSubmissionsIgnored",
};

}  // namespace

bool IsStickyError(std::string_view failure) {
  return std::ranges::any_of(
      kStickyErrors, [&](std::string_view known) { return failure.find(known) != failure.npos; });
}

}  // namespace millrace::server
