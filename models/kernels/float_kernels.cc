#include "models/kernels/float_kernels.h"

#include <vector>

namespace millrace::models::kernels {

std::span<const FloatKernels* const> SupportedFloatKernels() {
  static const auto* const supported = [] {
    auto* found = new std::vector<const FloatKernels*>;
#if defined(__x86_64__)
    for (const FloatKernels* kernels : {&kAvx512Float, &kAvx2Float}) {
      if (kernels->supported()) found->push_back(kernels);
    }
#endif
    found->push_back(&kPortableFloat);
    return found;
  }();
  return *supported;
}

}  // namespace millrace::models::kernels
