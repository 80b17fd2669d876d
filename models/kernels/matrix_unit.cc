#include "models/kernels/matrix_unit.h"

#include "models/kernels/instruction_set.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace millrace::kernels {
namespace {

MatrixUnitNumbers AskForMatrixUnit() {
  MatrixUnitNumbers numbers;
#if defined(__x86_64__) && defined(__linux__)
  if (!MayUse(InstructionSet::kAmx)) return numbers;
  constexpr unsigned kAmxBf16 = 1U << 22;
  constexpr unsigned kAmxTile = 1U << 24;
  constexpr unsigned kAmxInt8 = 1U << 25;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || (edx & kAmxTile) == 0) return numbers;
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
  if (syscall(SYS_arch_prctl, kRequestPermission, kTileData) != 0) return numbers;
  numbers.bfloat16 = (edx & kAmxBf16) != 0;
  numbers.int8 = (edx & kAmxInt8) != 0;
#endif
  return numbers;
}

}  // namespace

const MatrixUnitNumbers& MatrixUnit() {
  static const MatrixUnitNumbers numbers = AskForMatrixUnit();
  return numbers;
}

}  // namespace millrace::kernels
