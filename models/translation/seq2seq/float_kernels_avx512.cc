#define MILLRACE_VECTOR_BYTES 64
#define MILLRACE_TILE_ROWS 12
#include "models/core/instruction_set.h"
#include "models/translation/seq2seq/float_kernels.inl"

namespace millrace::models::kernels {
namespace {

bool Supported() {
  return MayUse(InstructionSet::kAvx512) && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

}  // namespace

constinit const FloatKernels kAvx512Float = MakeSet("avx512", &Supported);

}  // namespace millrace::models::kernels
