#define MILLRACE_VECTOR_BYTES 64
#define MILLRACE_TILE_ROWS 12
#include "models/kernels/float_kernels.inl"

namespace millrace::kernels {
constinit const FloatKernels kAvx512Float = MakeSet("avx512", Target::kAvx512);

}  // namespace millrace::kernels
