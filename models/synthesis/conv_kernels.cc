#include "models/synthesis/conv_kernels.h"

#include "models/core/instruction_set.h"
#include "models/core/matrix_unit.h"

namespace millrace::models {

extern const ConvKernels kConvKernelsBaseline;
#ifdef MILLRACE_X86_KERNELS
extern const ConvKernels kConvKernelsAmx;
extern const ConvKernels kConvKernelsAvx512;
extern const ConvKernels kConvKernelsAvx2;
#endif

#ifdef MILLRACE_X86_KERNELS
namespace {

bool SupportsTiles() { return MatrixUnit().bfloat16 && __builtin_cpu_supports("avx512bf16"); }

}  // namespace
#endif

const ConvKernels* const* ListConvKernels() {
  static const ConvKernels* const* const list = [] {
    static const ConvKernels* kernels[5] = {};
    int count = 0;
#ifdef MILLRACE_X86_KERNELS
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
