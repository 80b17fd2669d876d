#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/kernels/precision.h"
#include "models/kernels/scratch.h"
#include "models/speech/tensor_reader.h"

namespace millrace::kokoro {

// Memory that blocks use one after the other, so that it is not allocated for each. One thread at a
// time.
struct SnakeScratch {
  kernels::Scratch sum, middle;
};

// A residual block of Kokoro's generator, which takes most of the time: for each dilation, twice a
// style norm, a snake activation and a convolution. Immutable, shared by all threads.
class SnakeBlock {
 public:
  virtual ~SnakeBlock() = default;

  // Takes x [1, channels, time] and style [1, style channels]. Adds the result to `total`, which
  // has the shape of x and is contiguous.
  virtual void AddTo(const at::Tensor& total, const at::Tensor& x, const at::Tensor& style,
                     SnakeScratch& scratch) const = 0;
};

// Makes the fastest block for the device of the weights. precision: see CpuSnakeBlock; float32 on
// other devices. Errors are kept in weights.status(); then
// the block must not be used.
std::unique_ptr<SnakeBlock> MakeSnakeBlock(speech::TensorReader& weights, const std::string& name,
                                           int64_t channels, int64_t style,
                                           const std::vector<int64_t>& dilations,
                                           kernels::Precision precision);

}  // namespace millrace::kokoro
