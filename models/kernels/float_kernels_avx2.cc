#define MILLRACE_VECTOR_BYTES 32
#define MILLRACE_TILE_ROWS 6
#include "models/kernels/float_kernels.inl"

namespace millrace::kernels {
constinit const FloatKernels kAvx2Float = MakeSet("avx2", Target::kAvx2);

}  // namespace millrace::kernels
