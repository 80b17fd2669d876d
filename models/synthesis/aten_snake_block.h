#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "models/synthesis/kokoro_layers.h"
#include "models/synthesis/snake_block.h"

namespace millrace::models {

// ATen operators: runs on any device. NativeSnakeBlock is faster on the CPU.
class AtenSnakeBlock final : public SnakeBlock {
 public:
  // Errors are kept in weights.status().
  AtenSnakeBlock(TensorReader& weights, const std::string& name, int64_t channels, int64_t style,
                 const std::vector<int64_t>& dilations);

  at::Tensor Run(const at::Tensor& x, const at::Tensor& style) const override;

 private:
  struct Layer {
    KokoroStyleNorm norm;
    at::Tensor alpha;  // [1, channels, 1]
    KokoroConv conv;
    int64_t dilation = 1;
  };

  static at::Tensor RunLayer(const Layer& layer, const at::Tensor& x, const at::Tensor& style);

  std::vector<Layer> layers_;  // the second of each pair adds what came before the first
};

}  // namespace millrace::models
