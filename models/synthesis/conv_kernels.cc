#include "models/synthesis/conv_kernels.h"

namespace millrace::models {

extern const ConvKernels kConvKernelsBaseline;
#ifdef MILLRACE_X86_KERNELS
extern const ConvKernels kConvKernelsAvx512;
extern const ConvKernels kConvKernelsAvx2;
#endif

const ConvKernels* const* ListConvKernels() {
  static const ConvKernels* const* const list = [] {
    static const ConvKernels* kernels[4] = {};
    int count = 0;
#ifdef MILLRACE_X86_KERNELS
    if (__builtin_cpu_supports("avx512f")) kernels[count++] = &kConvKernelsAvx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      kernels[count++] = &kConvKernelsAvx2;
#endif
    kernels[count] = &kConvKernelsBaseline;
    return kernels;
  }();
  return list;
}

const ConvKernels& GetConvKernels() { return **ListConvKernels(); }

}  // namespace millrace::models
