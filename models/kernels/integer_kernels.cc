#include "models/kernels/integer_kernels.h"

#include "models/kernels/dispatch.h"

namespace millrace::kernels {

std::span<const Kernels* const> SupportedKernels() {
  static const auto* const supported = new std::vector<const Kernels*>(Runnable({
#if defined(__x86_64__)
    &kAmx, &kAvx512Vnni, &kAvx2,
#endif
        &kPortable,
  }));
  return *supported;
}

}  // namespace millrace::kernels
