#include "models/kernels/integer_kernels.h"

#include <vector>

namespace millrace::models::kernels {

std::span<const Kernels* const> SupportedKernels() {
  static const auto* const supported = [] {
    auto* found = new std::vector<const Kernels*>;
#if defined(__x86_64__)
    for (const Kernels* kernels : {&kAmx, &kAvx512Vnni, &kAvx2}) {
      if (kernels->supported()) found->push_back(kernels);
    }
#endif
    found->push_back(&kPortable);
    return found;
  }();
  return *supported;
}

}  // namespace millrace::models::kernels
