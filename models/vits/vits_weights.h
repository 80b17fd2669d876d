#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/speech/tensor_reader.h"

namespace millrace::vits {

// The flows that have weights, in the order of synthesis; those between them exchange the halves of
// the channels.
inline constexpr int kFlows[] = {6, 4, 2, 0};
// The same of the duration predictor, whose flow 1 is unused at inference.
inline constexpr int kDurationFlows[] = {7, 5, 3};
// The slopes of the generator's leaky rectifiers, and of that before its last convolution.
inline constexpr float kSlope = 0.1F;
inline constexpr float kLastSlope = 0.01F;

// The parameters of the network that the shapes of the weights do not determine.
struct VitsShape {
  std::vector<int64_t> upsample_strides;
  std::vector<int64_t> flow_dilations;                // in one coupling layer
  std::vector<std::vector<int64_t>> block_dilations;  // by residual block, all stages in order

  // Returns the number of samples in a frame.
  int64_t hop() const;
};

// The tensors of a VITS package, named as in Piper's checkpoints. For one thread, while loading.
class VitsWeights : public speech::TensorReader {
 public:
  // Tensors are copied to the device.
  static absl::StatusOr<VitsWeights> Open(const std::filesystem::path& file, at::Device device);

  const VitsShape& shape() const { return shape_; }

 private:
  using speech::TensorReader::TensorReader;
  absl::Status ReadShape(const std::filesystem::path& path);

  VitsShape shape_;
};

// A convolution's parameters; bias may be undefined.
struct VitsConv {
  at::Tensor weight;
  at::Tensor bias;
  int64_t stride = 1;
  int64_t dilation = 1;
};

VitsConv TakeConv(VitsWeights& weights, const std::string& name, const std::vector<int64_t>& shape,
                  int64_t dilation = 1);
// Like TakeConv, for a convolution that keeps the length; it must have an odd number of taps.
VitsConv TakeSameConv(VitsWeights& weights, const std::string& name,
                      const std::vector<int64_t>& shape, int64_t dilation = 1);
// Refuses a number of statistics of a latent vector that the flow cannot have: it exchanges the
// halves of the latents, and there are means and deviations of each.
void CheckStatistics(VitsWeights& weights, int64_t statistics);
// Takes the upsampling of a stage of the generator, weight [channels, out, kernel]; the kernel must
// cover the stride.
VitsConv TakeUpsampling(VitsWeights& weights, size_t stage, int64_t channels);

}  // namespace millrace::vits
