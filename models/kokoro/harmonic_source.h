#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "models/kokoro/kokoro_extent.h"
#include "models/kokoro/kokoro_layers.h"
#include "models/kokoro/kokoro_weights.h"

namespace millrace::kokoro {

// The excitation of Kokoro's generator: sines at the pitch and its harmonics where the voice is
// voiced, noise elsewhere, and the short-time spectrum of their mix. Runs as ATen operators on the
// device of the weights. Immutable, shared by all threads.
class HarmonicSource {
 public:
  // Errors are kept in weights.status().
  HarmonicSource(KokoroWeights& weights, int sample_rate);

  // Returns the number of sines, and of noise values, for each sample.
  int64_t sines() const { return mix_.weight.size(1); }
  // Returns the number of channels of the spectrum: magnitudes, then phases.
  int64_t channels() const { return cosines_.size(0) + sines_basis_.size(0); }

  // Returns the spectrum [1, channels, samples / hop + 1]. pitch [1, values] in hertz; noise [1,
  // samples, sines] of mean 0 and standard deviation 1.
  at::Tensor Run(const at::Tensor& pitch, const at::Tensor& noise) const;
  // Does the same for a padded batch; the result is zero beyond `after`. pitch [batch, values] up
  // to the extent.
  at::Tensor RunPadded(const at::Tensor& pitch, const at::Tensor& noise, const KokoroExtent& extent,
                       const KokoroExtent& after) const;

 private:
  at::Tensor Waves(const at::Tensor& pitch, const KokoroExtent& extent) const;
  at::Tensor Voiced(const at::Tensor& pitch) const;
  at::Tensor Sound(const at::Tensor& pitch, const at::Tensor& noise,
                   const KokoroExtent& extent) const;
  at::Tensor Transform(const at::Tensor& sound) const;

  const int64_t samples_per_pitch_;
  const int64_t hop_;
  const double sample_rate_;
  at::Tensor harmonics_;              // [1, sines, 1]: 1, 2, 3 ...
  KokoroLinear mix_;                  // mixes the sines
  at::Tensor cosines_, sines_basis_;  // [fft / 2 + 1, 1, fft], windowed
};

}  // namespace millrace::kokoro
