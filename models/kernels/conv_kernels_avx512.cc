#define MILLRACE_LANES 16
#define MILLRACE_TILE 14  // 28 sums, 2 weights and 2 to spare of the 32 registers
#include "models/kernels/conv_kernels.inl"

namespace millrace::kernels {

const ConvKernels kConvKernelsAvx512 = {"avx512",  Target::kAvx512, 0.0F,   &PackedSize, &Pack,
                                        &Convolve, &TanhDot,        &Snake, &Moments};

}  // namespace millrace::kernels
