#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace millrace::kokoro {

// Short-time Fourier transforms of a few samples as convolutions: they run on any device, and need
// no complex numbers. Tensors are float32 on the CPU; `size` is even.
struct FourierBasis {
  at::Tensor cosines, sines;  // [size / 2 + 1, 1, size]
};

// Under a periodic Hann window; a convolution with them gives the real and the imaginary part.
FourierBasis MakeAnalysis(int64_t size);
// For transposed convolutions, whose sum overlaps and adds; to be divided by the overlap of
// MakeWindowPower.
FourierBasis MakeSynthesis(int64_t size);
// [1, 1, size]: the square of the window.
at::Tensor MakeWindowPower(int64_t size);

}  // namespace millrace::kokoro
