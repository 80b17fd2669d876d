#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/synthesis/vits_weights.h"

namespace millrace::models {

// The second half of VITS: draws the latent frames, runs the inverse flow and the generator.
// Implementations are immutable and shared by all threads.
class VitsDecoder {
 public:
  struct Input {
    at::Tensor statistics;         // [1, 2 * latent, phonemes]
    std::vector<int64_t> frames;   // of each phoneme
    std::span<const float> noise;  // [sum of frames][latent]
    float noise_scale = 0;
    int64_t speaker = 0;
  };

  virtual ~VitsDecoder() = default;

  // Samples in -1..1; nullopt when should_stop, asked now and then, said so.
  virtual std::optional<std::vector<float>> Decode(
      const Input& input, const std::function<bool()>& should_stop) const = 0;
};

// The fastest for the device. Errors are kept in weights.status(); then the decoder must not be
// used.
std::unique_ptr<VitsDecoder> MakeVitsDecoder(VitsWeights& weights, int64_t latent,
                                             at::Device device);

}  // namespace millrace::models
