#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/speech/tensor_reader.h"

namespace millrace::kokoro {

// A residual block of Kokoro's generator, where most of the time goes: for each dilation, twice a
// style norm, a snake activation and a convolution. Immutable, shared by all threads.
class SnakeBlock {
 public:
  virtual ~SnakeBlock() = default;

  // x [1, channels, time], style [1, style channels]; the result is shaped as x.
  virtual at::Tensor Run(const at::Tensor& x, const at::Tensor& style) const = 0;
};

// The fastest for the device, on which the weights are. Errors are kept in weights.status(); then
// the block must not be used.
std::unique_ptr<SnakeBlock> MakeSnakeBlock(speech::TensorReader& weights, const std::string& name,
                                           int64_t channels, int64_t style,
                                           const std::vector<int64_t>& dilations);

}  // namespace millrace::kokoro
