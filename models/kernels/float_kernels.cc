#include "models/kernels/float_kernels.h"

#include "models/kernels/dispatch.h"

namespace millrace::kernels {

std::span<const FloatKernels* const> SupportedFloatKernels() {
  static const auto* const supported = new std::vector<const FloatKernels*>(Runnable({
#if defined(__x86_64__)
    &kAvx512Float, &kAvx2Float,
#elif defined(__aarch64__)
    &kNeonFloat,
#endif
        &kPortableFloat,
  }));
  return *supported;
}

}  // namespace millrace::kernels
