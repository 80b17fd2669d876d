#include "models/kernels/target.h"

#include "models/kernels/arm_features.h"
#include "models/kernels/instruction_set.h"
#include "models/kernels/matrix_unit.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace millrace::kernels {

#if defined(__x86_64__)
namespace {

// Clang 14 has no name for it in __builtin_cpu_supports.
bool HasAvxVnni() {
  constexpr unsigned kAvxVnni = 1U << 4;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & kAvxVnni) != 0;
}

}  // namespace

bool CanRun(Target target) {
  switch (target) {
    case Target::kPortable:
      return true;
    case Target::kAvx2:
      return MayUse(InstructionSet::kAvx2) && __builtin_cpu_supports("avx2") &&
             __builtin_cpu_supports("fma");
    case Target::kAvxVnni:
      return MayUse(InstructionSet::kAvxVnni) && CanRun(Target::kAvx2) && HasAvxVnni();
    case Target::kAvx512:
      return MayUse(InstructionSet::kAvx512) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
    case Target::kAvx512Vnni:
      return CanRun(Target::kAvx512) && __builtin_cpu_supports("avx512vnni");
    case Target::kAvx512Bf16:
      return CanRun(Target::kAvx512Vnni) && __builtin_cpu_supports("avx512bf16");
    case Target::kAmxInt8:
      return CanRun(Target::kAvx512Vnni) && MatrixUnit().int8;
    case Target::kAmxBf16:
      return CanRun(Target::kAvx512Bf16) && MatrixUnit().bfloat16;
    case Target::kNeon:
    case Target::kNeonDotProduct:
    case Target::kNeonInt8Matrix:
      return false;
  }
  return false;
}
#elif defined(__aarch64__)
bool CanRun(Target target) {
  switch (target) {
    case Target::kPortable:
      return true;
    case Target::kNeon:  // every arm64 processor has it
      return MayUse(InstructionSet::kNeon);
    case Target::kNeonDotProduct:
      return CanRun(Target::kNeon) && GetArmFeatures().dot_product;
    case Target::kNeonInt8Matrix:
      return CanRun(Target::kNeonDotProduct) && GetArmFeatures().int8_matrix;
    default:
      return false;
  }
}
#else
bool CanRun(Target target) { return target == Target::kPortable; }
#endif

InstructionSet BestInstructionSet() {
  if (CanRun(Target::kNeon)) return InstructionSet::kNeon;
  if (CanRun(Target::kAmxInt8) || CanRun(Target::kAmxBf16)) return InstructionSet::kAmx;
  if (CanRun(Target::kAvx512)) return InstructionSet::kAvx512;
  if (CanRun(Target::kAvxVnni)) return InstructionSet::kAvxVnni;
  return CanRun(Target::kAvx2) ? InstructionSet::kAvx2 : InstructionSet::kPortable;
}

}  // namespace millrace::kernels
