#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "models/kokoro/kokoro_extent.h"
#include "models/kokoro/kokoro_layers.h"

namespace millrace::kokoro {

// A residual block of Kokoro's generator, as CpuSnakeBlock, in ATen operators for padded batches.
// On accelerators the passes over memory dominate, so constants are folded into weights. Immutable.
class AtenSnakeBlock {
 public:
  // Errors are kept in weights.status().
  AtenSnakeBlock(speech::TensorReader& weights, const std::string& name, int64_t channels,
                 int64_t style, const std::vector<int64_t>& dilations);

  // x [batch, channels, time] is zero beyond the extent, which must not be whole; so is the result.
  at::Tensor Run(const at::Tensor& x, const at::Tensor& style, const KokoroExtent& extent) const;

  struct Layer {
    at::Tensor weight;  // the convolution's, for an input that is alpha times too large
    int64_t dilation = 1;
  };
  const std::vector<Layer>& layers() const { return layers_; }
  const KokoroLinear& affine() const { return affine_; }
  const at::Tensor& bias() const { return bias_; }

 private:
  // Computes the layer's convolution of its activation. styles: the result of affine_.
  at::Tensor RunLayer(size_t layer, const at::Tensor& x, const at::Tensor& styles,
                      const KokoroExtent& extent) const;

  std::vector<Layer> layers_;  // the second layer of each pair adds the input of the first
  // Computes each layer's scales and shifts from the style, both alpha times too large.
  KokoroLinear affine_;
  // [1, channels, 1], the biases of all second convolutions. A norm cancels what is added to a
  // whole channel, so these may be added at the end, and those of the first convolutions never.
  at::Tensor bias_;
};

}  // namespace millrace::kokoro
