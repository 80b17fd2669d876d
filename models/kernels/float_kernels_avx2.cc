#define MILLRACE_VECTOR_BYTES 32
#define MILLRACE_TILE_ROWS 6
#include "models/kernels/float_kernels.inl"
#include "models/kernels/instruction_set.h"

namespace millrace::models::kernels {
namespace {

bool Supported() {
  return MayUse(InstructionSet::kAvx2) && __builtin_cpu_supports("avx2") &&
         __builtin_cpu_supports("fma");
}

}  // namespace

constinit const FloatKernels kAvx2Float = MakeSet("avx2", &Supported);

}  // namespace millrace::models::kernels
