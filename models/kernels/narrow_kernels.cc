#include "models/kernels/narrow_kernels.h"

#include "models/kernels/dispatch.h"

namespace millrace::kernels {

std::span<const NarrowKernels* const> SupportedInt8Kernels() {
  static const auto* const supported = new std::vector<const NarrowKernels*>(Runnable({
#if defined(__x86_64__)
    &kAmxInt8, &kAvx512Int8, &kAvxVnniInt8, &kAvx2Int8,
#elif defined(__aarch64__)
    &kNeonMatrixInt8, &kNeonDotInt8, &kNeonInt8,
#endif
        &kPortableInt8,
  }));
  return *supported;
}

bool HasInt8DotProducts() {
  switch (SupportedInt8Kernels().front()->target) {
    case Target::kAvxVnni:
    case Target::kAvx512Vnni:
    case Target::kAmxInt8:
    case Target::kNeonDotProduct:
    case Target::kNeonInt8Matrix:
      return true;
    default:
      return false;
  }
}

std::span<const NarrowKernels* const> SupportedBfloatKernels() {
  static const auto* const supported = new std::vector<const NarrowKernels*>(Runnable({
#if defined(__x86_64__)
    &kAmxBfloat, &kAvx512Bfloat, &kAvx2Bfloat,
#endif
        &kPortableBfloat,
  }));
  return *supported;
}

}  // namespace millrace::kernels
