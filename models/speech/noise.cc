#include "models/speech/noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "models/kernels/parallel_for.h"

namespace millrace::speech {
namespace {

constexpr size_t kBlockValues = 4;
using Block = std::array<uint32_t, kBlockValues>;

// The values that are made together: some hundred microseconds, whole blocks.
constexpr size_t kPartValues = 8192;

Block Philox(Block counter, uint64_t seed) {
  auto key0 = static_cast<uint32_t>(seed);
  auto key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53} * counter[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(product1),
        static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(product0)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

// Returns uniform values in (0, 1), because the logarithm of 0 is not finite.
float Uniform(uint32_t bits) { return (static_cast<float>(bits >> 8) + 0.5F) * 0x1.0p-24F; }

}  // namespace

void NoiseSource::Fill(std::span<float> values) {
  const size_t parts = (values.size() + kPartValues - 1) / kPartValues;
  kernels::ParallelFor(static_cast<int64_t>(parts), [&](int64_t part) {
    const size_t begin = static_cast<size_t>(part) * kPartValues;
    FillFrom(counter_ + begin / kBlockValues,
             values.subspan(begin, std::min(kPartValues, values.size() - begin)));
  });
  counter_ += (values.size() + kBlockValues - 1) / kBlockValues;
}

void NoiseSource::FillFrom(uint64_t counter, std::span<float> values) const {
  for (size_t i = 0; i < values.size(); i += kBlockValues) {
    const Block bits =
        Philox({static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32),
                static_cast<uint32_t>(stream_), static_cast<uint32_t>(stream_ >> 32)},
               seed_);
    ++counter;
    for (size_t j = 0; j < kBlockValues && i + j < values.size(); j += 2) {
      const float radius = std::sqrt(-2.0F * std::log(Uniform(bits[j])));
      const float angle = 2.0F * std::numbers::pi_v<float> * Uniform(bits[j + 1]);
      values[i + j] = radius * std::cos(angle);
      if (i + j + 1 < values.size()) values[i + j + 1] = radius * std::sin(angle);
    }
  }
}

}  // namespace millrace::speech
