#define MILLRACE_LANES 16
// 28 sums, 2 weights and 1 input of the 32 registers.
#define MILLRACE_TILE 14
#define MILLRACE_PANEL 32
#include "models/kernels/conv_kernels.inl"

namespace millrace::kernels {

const ConvKernels kConvKernelsAvx512 = {"avx512",         Target::kAvx512, 0.0F,   kTile,
                                        &HasWinogradForm, &PackedSize,     &Pack,  &Convolve,
                                        &FinishSums,      &TanhDot,        &Snake, &Moments};

}  // namespace millrace::kernels
