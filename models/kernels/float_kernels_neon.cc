#define MILLRACE_VECTOR_BYTES 16
#define MILLRACE_TILE_ROWS 12
#include "models/kernels/float_kernels.inl"

namespace millrace::kernels {
constinit const FloatKernels kNeonFloat = MakeSet("neon", Target::kNeon);

}  // namespace millrace::kernels
