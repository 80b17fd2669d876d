#define MILLRACE_LANES 8
#define MILLRACE_TILE 3  // 12 sums of the 16 registers
#include "models/kernels/conv_kernels.inl"

namespace millrace::kernels {

const ConvKernels kConvKernelsAvx2 = {"avx2",    Target::kAvx2, 0.0F,   &PackedSize, &Pack,
                                      &Convolve, &TanhDot,      &Snake, &Moments};

}  // namespace millrace::kernels
