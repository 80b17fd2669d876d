#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/speech/tensor_reader.h"

namespace millrace::kokoro {

// The parameters of the network that the shapes of the weights do not determine.
struct KokoroShape {
  int64_t albert_layers = 0;  // all share one set of weights
  int64_t albert_heads = 0;
  std::vector<int64_t> upsample_strides;
  std::vector<std::vector<int64_t>> block_dilations;  // one list a residual block of one stage
  int64_t fft_size = 0;                               // the last step's, even
  int64_t fft_hop = 0;                                // divides fft_size

  // Returns the number of samples for a value of the pitch curve, which has two for each frame.
  int64_t samples_per_pitch() const;
  int64_t samples_per_frame() const { return 2 * samples_per_pitch(); }
};

// The tensors of a Kokoro package, named as in KModel of the Python package kokoro, with weight
// normalisation folded in, and "voices.<name>". For one thread, while loading.
class KokoroWeights : public speech::TensorReader {
 public:
  // Tensors are copied to the device.
  static absl::StatusOr<KokoroWeights> Open(const std::filesystem::path& file, at::Device device);

  const KokoroShape& shape() const { return shape_; }

 private:
  using speech::TensorReader::TensorReader;
  absl::Status ReadShape();

  KokoroShape shape_;
};

}  // namespace millrace::kokoro
