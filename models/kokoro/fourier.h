#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace millrace::kokoro {

// Short-time Fourier transforms of a few samples as convolutions: they run on any device, and need
// no complex numbers. Tensors are float32 on the CPU; `size` is even.
struct FourierBasis {
  at::Tensor cosines, sines;  // [size / 2 + 1, 1, size]
};

// Makes the basis of a transform with a periodic Hann window; convolutions with it give the real
// and the imaginary part.
FourierBasis MakeAnalysis(int64_t size);
// Makes the basis of the inverse for transposed convolutions, which overlap and add. The result
// must be divided by the overlapped MakeWindowPower.
FourierBasis MakeSynthesis(int64_t size);
// Returns the square of the window, [1, 1, size].
at::Tensor MakeWindowPower(int64_t size);

}  // namespace millrace::kokoro
