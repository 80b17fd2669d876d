#define MILLRACE_LANES 8
// 12 sums, 2 weights and 1 input of the 16 registers.
#define MILLRACE_TILE 6
#define MILLRACE_PANEL 16
#include "models/kernels/conv_kernels.inl"

namespace millrace::kernels {

const ConvKernels kConvKernelsAvx2 = {"avx2",           Target::kAvx2, 0.0F,   kTile,
                                      &HasWinogradForm, &PackedSize,   &Pack,  &Convolve,
                                      &FinishSums,      &TanhDot,      &Snake, &Moments};

}  // namespace millrace::kernels
