#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace millrace::speech {

// The key of NoiseSource(seed, stream) for DrawNoise: [4] on the CPU.
at::Tensor NoiseKey(uint64_t seed, uint64_t stream);

// [batch, count]: in each row the first values of the NoiseSource of its key, but for the rounding
// of sines and logarithms. Drawn by ATen operators on the device of the keys [batch, 4]: the noise
// of a sentence is some hundred times as large as what it is spoken from, and the host would take
// longer over it than a GPU takes for all the rest.
at::Tensor DrawNoise(const at::Tensor& keys, int64_t count);

}  // namespace millrace::speech
