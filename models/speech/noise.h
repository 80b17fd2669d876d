#pragma once

#include <cstdint>
#include <span>

namespace millrace::speech {

// Gaussian noise that depends only on its arguments: no state is shared between requests or
// threads, so equal requests get equal audio whatever else runs. Philox 4x32-10 (Salmon et al.,
// 2011) as the counter, Box-Muller for the bell.
class NoiseSource {
 public:
  // `stream` tells apart what uses the same seed, such as the sentences of one request.
  NoiseSource(uint64_t seed, uint64_t stream) : seed_(seed), stream_(stream) {}

  // The next values, of mean 0 and deviation 1.
  void Fill(std::span<float> values);

 private:
  const uint64_t seed_;
  const uint64_t stream_;
  uint64_t counter_ = 0;
};

}  // namespace millrace::speech
