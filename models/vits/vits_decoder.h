#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/kernels/precision.h"
#include "models/vits/vits_weights.h"
#include "mps_runtime/worker_context.h"

namespace millrace::vits {

// The second half of VITS: draws the latent frames, then runs the inverse flow and the generator.
// Implementations are immutable and shared by all threads.
class VitsDecoder {
 public:
  struct Input {
    at::Tensor statistics;         // [phonemes, 2 * latent], contiguous, on the CPU
    std::vector<int64_t> frames;   // the frames of each phoneme
    std::span<const float> noise;  // [sum of frames][latent]
    float noise_scale = 0;
    int64_t speaker = 0;

    int64_t TotalFrames() const;
    // Writes a row of latents for each frame: the first half of the channels, and the second half
    // from column `second_half` on. Rows begin `pitch` floats apart.
    void DrawLatents(int64_t second_half, int64_t pitch, float* rows) const;
  };

  // A sentence that is being decoded. Used by one thread at a time; the decoder must outlive it.
  class Decoding {
   public:
    virtual ~Decoding() = default;

    // Returns samples in -1..1 of at least `count` frames from `begin` on, fewer only at the end.
    // Samples do not depend on the cuts. Where the host does the work it calls should_stop
    // repeatedly, and returns nullopt if that returns true.
    virtual std::optional<std::vector<float>> Generate(int64_t begin, int64_t count,
                                                       const std::function<bool()>& should_stop,
                                                       runtime::WorkerContext& context) = 0;
  };

  virtual ~VitsDecoder() = default;

  // `input` and what it refers to may be destroyed afterwards.
  virtual std::unique_ptr<Decoding> Start(const Input& input) const = 0;
};

// Makes the fastest decoder for the device of the weights. model: its name in the graph caches.
// precision: see CpuVitsDecoder; float32 on other devices. Errors are kept in weights.status();
// then the decoder must not be used.
std::unique_ptr<VitsDecoder> MakeVitsDecoder(
    VitsWeights& weights, int64_t latent, at::Device device, std::string model,
    kernels::Precision precision = kernels::Precision::kFloat32);

}  // namespace millrace::vits
