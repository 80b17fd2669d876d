#define MILLRACE_LANES 4
// 24 sums, 4 weights and 1 input of the 32 registers.
#define MILLRACE_TILE 6
#define MILLRACE_PANEL 16
#include "models/kernels/conv_kernels.inl"

namespace millrace::kernels {

const ConvKernels kConvKernelsNeon = {"neon",           Target::kNeon, 0.0F,   kTile,
                                      &HasWinogradForm, &PackedSize,   &Pack,  &Convolve,
                                      &FinishSums,      &TanhDot,      &Snake, &Moments};

}  // namespace millrace::kernels
