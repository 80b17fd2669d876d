#define MILLRACE_VECTOR_BYTES 64
#define MILLRACE_TILE_ROWS 12
#include "models/kernels/float_kernels.inl"
#include "models/kernels/instruction_set.h"

namespace millrace::models::kernels {
namespace {

bool Supported() {
  return MayUse(InstructionSet::kAvx512) && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

}  // namespace

constinit const FloatKernels kAvx512Float = MakeSet("avx512", &Supported);

}  // namespace millrace::models::kernels
