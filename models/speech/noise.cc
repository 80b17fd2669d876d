#include "models/speech/noise.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace millrace::speech {
namespace {

using Block = std::array<uint32_t, 4>;

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
  for (size_t i = 0; i < values.size(); i += 4) {
    const Block bits =
        Philox({static_cast<uint32_t>(counter_), static_cast<uint32_t>(counter_ >> 32),
                static_cast<uint32_t>(stream_), static_cast<uint32_t>(stream_ >> 32)},
               seed_);
    ++counter_;
    for (size_t j = 0; j < 4 && i + j < values.size(); ++j) {
      const float radius = std::sqrt(-2.0F * std::log(Uniform(bits[j & 2])));
      const float angle = 2.0F * std::numbers::pi_v<float> * Uniform(bits[(j & 2) + 1]);
      values[i + j] = radius * ((j & 1) == 0 ? std::cos(angle) : std::sin(angle));
    }
  }
}

}  // namespace millrace::speech
