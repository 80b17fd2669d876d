#define MILLRACE_VECTOR_BYTES 16
#define MILLRACE_TILE_ROWS 4
#include "models/kernels/float_kernels.inl"

namespace millrace::models::kernels {
namespace {

bool Supported() { return true; }

}  // namespace

constinit const FloatKernels kPortableFloat = MakeSet("portable", &Supported);

}  // namespace millrace::models::kernels
