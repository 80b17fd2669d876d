#include "models/kernels/integer_kernels.h"

#include "models/kernels/dispatch.h"

namespace millrace::kernels {

std::span<const IntegerKernels* const> SupportedIntegerKernels() {
  static const auto* const supported = new std::vector<const IntegerKernels*>(Runnable({
#if defined(__x86_64__)
    &kAmxInteger, &kAvx512VnniInteger, &kAvxVnniInteger, &kAvx2Integer,
#elif defined(__aarch64__)
    &kNeonMatrixInteger, &kNeonDotInteger, &kNeonInteger,
#endif
        &kPortableInteger,
  }));
  return *supported;
}

}  // namespace millrace::kernels
