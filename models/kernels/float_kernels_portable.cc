#define MILLRACE_VECTOR_BYTES 16
#define MILLRACE_TILE_ROWS 4
#include "models/kernels/float_kernels.inl"

namespace millrace::kernels {
constinit const FloatKernels kPortableFloat = MakeSet("portable", Target::kPortable);

}  // namespace millrace::kernels
