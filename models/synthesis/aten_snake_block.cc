#include "models/synthesis/aten_snake_block.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/square.h>

#include "absl/strings/str_cat.h"

namespace millrace::models {

AtenSnakeBlock::AtenSnakeBlock(TensorReader& weights, const std::string& name, int64_t channels,
                               int64_t style, const std::vector<int64_t>& dilations) {
  for (size_t i = 0; i < dilations.size(); ++i) {
    for (const int half : {1, 2}) {
      Layer layer;
      layer.norm = KokoroStyleNorm::Take(weights, absl::StrCat(name, ".adain", half, ".", i),
                                         channels, style);
      layer.alpha = weights.Take(absl::StrCat(name, ".alpha", half, ".", i), {channels});
      if (layer.alpha.defined()) layer.alpha = layer.alpha.view({1, -1, 1});
      layer.conv = KokoroConv::TakeSame(weights, absl::StrCat(name, ".convs", half, ".", i),
                                        channels, channels);
      layer.dilation = half == 1 ? dilations[i] : 1;
      layers_.push_back(std::move(layer));
    }
  }
}

at::Tensor AtenSnakeBlock::RunLayer(const Layer& layer, const at::Tensor& x,
                                    const at::Tensor& style) {
  const at::Tensor y = layer.norm.Run(x, style);
  const at::Tensor snake = y + at::reciprocal(layer.alpha) * at::square(at::sin(layer.alpha * y));
  return layer.conv.RunSame(snake, layer.dilation);
}

at::Tensor AtenSnakeBlock::Run(const at::Tensor& x, const at::Tensor& style) const {
  at::Tensor sum = x;
  for (size_t i = 0; i < layers_.size(); i += 2)
    sum = RunLayer(layers_[i + 1], RunLayer(layers_[i], sum, style), style) + sum;
  return sum;
}

}  // namespace millrace::models
