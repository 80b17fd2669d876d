#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace millrace::speech {

// Returns the key of NoiseSource(seed, stream) for DrawNoise: [4] on the CPU.
at::Tensor NoiseKey(uint64_t seed, uint64_t stream);

// Returns [batch, count]: in each row the first values of the NoiseSource of its key, up to
// rounding of sines and logarithms. Runs on the device of the keys [batch, 4]: the noise of a
// sentence is some hundred times as large as the rest of the input, and the host would take longer
// to make it than a GPU takes for the whole forward.
at::Tensor DrawNoise(const at::Tensor& keys, int64_t count);

// The same where a source's values are divided into rows of `count`: returns [batch, count], the
// row with the number rows[i] of the source keys[i]. rows: [batch], long.
at::Tensor DrawNoiseRows(const at::Tensor& keys, const at::Tensor& rows, int64_t count);

}  // namespace millrace::speech
