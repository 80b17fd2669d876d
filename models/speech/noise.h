#pragma once

#include <cstdint>
#include <span>

namespace millrace::speech {

// Gaussian noise that depends only on its arguments, so that equal requests get equal audio
// whatever else runs; no state is shared. Philox 4x32-10 (Salmon et al., 2011) is the counter-based
// generator, and Box-Muller makes the values Gaussian.
class NoiseSource {
 public:
  // stream: distinguishes users of the same seed, such as the sentences of one request.
  NoiseSource(uint64_t seed, uint64_t stream) : seed_(seed), stream_(stream) {}

  // Writes the next values, of mean 0 and standard deviation 1, by kernels::ParallelFor.
  void Fill(std::span<float> values);

 private:
  // Writes the values of the blocks from `counter` on.
  void FillFrom(uint64_t counter, std::span<float> values) const;

  const uint64_t seed_;
  const uint64_t stream_;
  uint64_t counter_ = 0;
};

}  // namespace millrace::speech
