#define MILLRACE_LANES 4
// 10 sums, 2 weights, 1 input and 2 products of 16 registers.
#define MILLRACE_TILE 5
#define MILLRACE_PANEL 8
#include "models/kernels/conv_kernels.inl"

namespace millrace::kernels {

const ConvKernels kConvKernelsPortable = {"portable",       Target::kPortable, 0.0F,   kTile,
                                          &HasWinogradForm, &PackedSize,       &Pack,  &Convolve,
                                          &FinishSums,      &TanhDot,          &Snake, &Moments};

}  // namespace millrace::kernels
