#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/kokoro/aten_snake_block.h"
#include "models/kokoro/kokoro_extent.h"
#include "models/kokoro/kokoro_layers.h"

namespace millrace::kokoro {

// A stage of the generator in half precision, where a device's backend registers operators for it:
// speech::RowOperators and those of libtorch's library millrace_kokoro, as CUDA's does. A layer is
// one pass over memory there instead of about ten, what lies beyond the end of a sentence costs
// nothing, and equal inputs give equal bits. Immutable, for any thread. Extents must not be whole.
class FusedStage {
 public:
  // A signal between stages: rows [batch, time, channels] of halves, times `factor`. What is beyond
  // the extent is undefined.
  struct Signal {
    at::Tensor rows;
    double factor = 1;
  };

  // Returns none if the device of the weights has no such operators or they do not support these
  // layers; `why_not` then has the reason, or is empty where the device has none. The first block
  // is the one for the source.
  static std::optional<FusedStage> Make(const KokoroUpsampling& up,
                                        const std::vector<AtenSnakeBlock>& blocks,
                                        std::string& why_not);

  // Converts [batch, channels, time].
  static Signal Begin(const at::Tensor& signal, const KokoroExtent& extent);
  // Upsamples the leaky ReLU of the signal, adds the first block of `source` [batch, channels,
  // time], and returns the mean of the other blocks. reflected: the result has the second value
  // once more in front.
  Signal Run(const Signal& signal, const KokoroExtent& before, double slope,
             const at::Tensor& source, const at::Tensor& style, const KokoroExtent& extent,
             bool reflected) const;
  // Returns the leaky ReLU of the signal as [batch, channels, time], with zeros beyond the extent.
  static at::Tensor End(const Signal& signal, const KokoroExtent& extent, double slope);

 private:
  struct Block {
    std::vector<at::Tensor> weights;  // [channels / 64, taps, channels, 64], halves
    std::vector<int64_t> dilations;
    KokoroLinear affine;
    std::optional<at::Tensor> bias;
  };

  static at::Tensor RunBlock(const Block& block, const at::Tensor& rows, const at::Tensor& moments,
                             const at::Tensor& style, const at::Tensor& counts,
                             const std::optional<at::Tensor>& added);

  int64_t stride_ = 1;
  at::Tensor up_weight_;  // [in channels / 64, 2, stride * channels, 64], halves
  at::Tensor up_bias_;
  std::vector<Block> blocks_;
};

}  // namespace millrace::kokoro
