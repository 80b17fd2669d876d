#include "models/kernels/narrow_kernels.h"

#include <initializer_list>
#include <vector>

namespace millrace::models::kernels {
namespace {

std::vector<const NarrowKernels*> SupportedOf(std::initializer_list<const NarrowKernels*> all) {
  std::vector<const NarrowKernels*> supported;
  for (const NarrowKernels* kernels : all) {
    if (kernels->supported()) supported.push_back(kernels);
  }
  return supported;
}

}  // namespace

std::span<const NarrowKernels* const> SupportedInt8Kernels() {
  static const auto* const supported = new std::vector<const NarrowKernels*>(SupportedOf({
#if defined(__x86_64__)
    &kAmxInt8, &kAvx512Int8, &kAvx2Int8,
#endif
        &kPortableInt8,
  }));
  return *supported;
}

std::span<const NarrowKernels* const> SupportedBfloatKernels() {
  static const auto* const supported = new std::vector<const NarrowKernels*>(SupportedOf({
#if defined(__x86_64__)
    &kAmxBfloat, &kAvx512Bfloat, &kAvx2Bfloat,
#endif
        &kPortableBfloat,
  }));
  return *supported;
}

}  // namespace millrace::models::kernels
