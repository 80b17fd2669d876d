#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "models/kokoro/kokoro_extent.h"
#include "models/kokoro/kokoro_layers.h"
#include "models/kokoro/snake_block.h"

namespace millrace::kokoro {

// ATen operators: runs on any device, over padded batches too. There the time goes with the passes
// over memory, so constants are moved to where they cost none. CpuSnakeBlock is faster on the
// CPU.
class AtenSnakeBlock final : public SnakeBlock {
 public:
  // Errors are kept in weights.status().
  AtenSnakeBlock(speech::TensorReader& weights, const std::string& name, int64_t channels,
                 int64_t style, const std::vector<int64_t>& dilations);

  at::Tensor Run(const at::Tensor& x, const at::Tensor& style) const override;
  // x [batch, channels, time] is zero beyond the extent, which is not whole; so is the result.
  at::Tensor Run(const at::Tensor& x, const at::Tensor& style, const KokoroExtent& extent) const;

 private:
  struct Layer {
    at::Tensor weight;  // of the convolution of what is alpha times too large
    int64_t dilation = 1;
  };

  // The layer's convolution of its activation. styles: what affine_ gives.
  at::Tensor RunLayer(size_t layer, const at::Tensor& x, const at::Tensor& styles,
                      const KokoroExtent& extent) const;

  std::vector<Layer> layers_;  // the second of each pair adds what came before the first
  // Of the style: each layer's scales, then its shifts, both alpha times too large.
  KokoroLinear affine_;
  // [1, channels, 1], of all second convolutions: the norms take away what is added to a whole
  // channel, so that theirs may be added at the end, and those of the first never.
  at::Tensor bias_;
};

}  // namespace millrace::kokoro
