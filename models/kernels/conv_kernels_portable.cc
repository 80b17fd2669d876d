#define MILLRACE_LANES 4
#if defined(__aarch64__)
#define MILLRACE_TILE 6  // 24 sums, 4 weights and 1 input of the 32 registers
#define MILLRACE_PANEL 16
#define MILLRACE_KERNELS_NAME "neon"
#else
#define MILLRACE_TILE 5  // 10 sums, 2 weights, 1 input and 2 products of the 16 registers
#define MILLRACE_PANEL 8
#define MILLRACE_KERNELS_NAME "portable"
#endif
#include "models/kernels/conv_kernels.inl"

namespace millrace::kernels {

const ConvKernels kConvKernelsPortable = {MILLRACE_KERNELS_NAME,
                                          Target::kPortable,
                                          0.0F,
                                          kTile,
                                          &PackedSize,
                                          &Pack,
                                          &Convolve,
                                          &TanhDot,
                                          &Snake,
                                          &Moments};

}  // namespace millrace::kernels
