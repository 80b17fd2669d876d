#include "models/kernels/conv_kernels.h"

#include "models/kernels/instruction_set.h"
#include "models/kernels/matrix_unit.h"

namespace millrace::models {

extern const ConvKernels kConvKernelsBaseline;
#if defined(__x86_64__)
extern const ConvKernels kConvKernelsAmx;
extern const ConvKernels kConvKernelsAvx512;
extern const ConvKernels kConvKernelsAvx2;
#endif

#if defined(__x86_64__)
namespace {

bool SupportsTiles() { return MatrixUnit().bfloat16 && __builtin_cpu_supports("avx512bf16"); }

}  // namespace
#endif

const ConvKernels* const* ListConvKernels() {
  static const ConvKernels* const* const list = [] {
    static const ConvKernels* kernels[5] = {};
    int count = 0;
#if defined(__x86_64__)
    const bool avx512 = MayUse(InstructionSet::kAvx512) && __builtin_cpu_supports("avx512f");
    if (avx512 && SupportsTiles()) kernels[count++] = &kConvKernelsAmx;
    if (avx512) kernels[count++] = &kConvKernelsAvx512;
    if (MayUse(InstructionSet::kAvx2) && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("fma"))
      kernels[count++] = &kConvKernelsAvx2;
#endif
    kernels[count] = &kConvKernelsBaseline;
    return kernels;
  }();
  return list;
}

const ConvKernels& GetConvKernels() { return **ListConvKernels(); }

}  // namespace millrace::models
