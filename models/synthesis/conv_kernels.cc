#include "models/synthesis/conv_kernels.h"

#if defined(MILLRACE_X86_KERNELS) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#define MILLRACE_AMX_KERNELS
#endif

namespace millrace::models {

extern const ConvKernels kConvKernelsBaseline;
#ifdef MILLRACE_X86_KERNELS
extern const ConvKernels kConvKernelsAmx;
extern const ConvKernels kConvKernelsAvx512;
extern const ConvKernels kConvKernelsAvx2;
#endif

#ifdef MILLRACE_AMX_KERNELS
namespace {

// Whether there is a matrix unit and the kernel lets this process use it: its registers are not
// saved for those who have not asked.
bool HasMatrixUnit() {
  constexpr unsigned kAvx512Bf16 = 1U << 5;
  constexpr unsigned kAmxBf16 = 1U << 22;
  constexpr unsigned kAmxTile = 1U << 24;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  if ((edx & kAmxBf16) == 0 || (edx & kAmxTile) == 0) return false;
  if (__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) == 0) return false;
  if ((eax & kAvx512Bf16) == 0) return false;
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace
#endif

const ConvKernels* const* ListConvKernels() {
  static const ConvKernels* const* const list = [] {
    static const ConvKernels* kernels[5] = {};
    int count = 0;
#ifdef MILLRACE_X86_KERNELS
    const bool avx512 = __builtin_cpu_supports("avx512f");
#ifdef MILLRACE_AMX_KERNELS
    if (avx512 && HasMatrixUnit()) kernels[count++] = &kConvKernelsAmx;
#endif
    if (avx512) kernels[count++] = &kConvKernelsAvx512;
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
