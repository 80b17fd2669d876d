#define MILLRACE_LANES 4
#if defined(__aarch64__)
#define MILLRACE_TILE 3  // 24 sums of the 32 registers
#define MILLRACE_KERNELS_NAME "neon"
#else
#define MILLRACE_TILE 1  // 8 sums of the 16 registers
#define MILLRACE_KERNELS_NAME "portable"
#endif
#include "models/kernels/conv_kernels.inl"

namespace millrace::kernels {

const ConvKernels kConvKernelsPortable = {MILLRACE_KERNELS_NAME,
                                          Target::kPortable,
                                          0.0F,
                                          &PackedSize,
                                          &Pack,
                                          &Convolve,
                                          &TanhDot,
                                          &Snake,
                                          &Moments};

}  // namespace millrace::kernels
