#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "models/kernels/aligned_buffer.h"
#include "models/kernels/channel_moments.h"
#include "models/kernels/packed_narrow.h"
#include "models/kernels/precision.h"
#include "models/kernels/scratch.h"
#include "models/kokoro/kokoro_layers.h"
#include "models/speech/packed_conv.h"

namespace millrace::kokoro {

// Memory for the blocks of one signal, so that each does not allocate its own. Its contents do not
// matter before or after a block.
struct SnakeScratch {
  kernels::Scratch sum, middle;
};

// A residual block of Kokoro's generator, which takes most of the time: for each dilation, twice a
// style norm, a snake activation and a convolution. For the CPU: our own convolutions on rows of
// channels, with norm and activation of the input before and the moments of the output after them,
// while the rows are in the cache. Chunks of rows run by kernels::ParallelFor; results do not
// depend on the number of threads. Immutable, shared by all threads.
class CpuSnakeBlock {
 public:
  // Where the rows of a block's results go, and what happens to them before.
  struct Result {
    float* rows = nullptr;
    bool added = false;  // to what is there
    float scale = 1.0F;  // the sums are multiplied by this
    float slope = 1.0F;  // the products pass a leaky ReLU with this slope
  };

  // The weights are on the CPU. precision: of the convolutions, float32 or int8, with which the
  // activated rows that make kernels::PackedNarrow::kRowsOfScale rows of results share a scale.
  // Errors are kept in weights.status().
  CpuSnakeBlock(speech::TensorReader& weights, const std::string& name, int64_t channels,
                int64_t style, const std::vector<int64_t>& dilations,
                kernels::Precision precision = kernels::Precision::kFloat32);

  // Takes x, rows of speech::PadChannels(channels) floats with zeros beyond the channels, and style
  // [1, style channels].
  void Run(const at::Tensor& x, const at::Tensor& style, SnakeScratch& scratch,
           const Result& result) const;

 private:
  struct Layer {
    KokoroAffine affine;  // from the style to the scales minus 1, then the shifts
    kernels::AlignedBuffer<float> alpha, inverse_alpha;
    std::variant<speech::PackedConv, kernels::PackedNarrow> conv;
    int64_t taps = 1;
    int64_t margin = 0;  // rows on each side of an output's own that it reads
  };

  // The norm of a layer: input * scale + shift.
  struct Affine {
    kernels::AlignedBuffer<float> scale, shift;
  };

  // The rows of a layer's input.
  struct Signal {
    const float* from = nullptr;
    int64_t rows = 0;
  };

  // Sets how the layer convolves.
  void PackConv(const KokoroConvToPack& conv, int64_t dilation, kernels::Precision precision,
                Layer& layer) const;
  // Computes the output rows begin .. end - 1 of a layer. outputs: says where row 0 lies of what is
  // added and of the results, and what happens to them.
  void RunRows(const Layer& layer, const Affine& affine, const Signal& signal, int64_t begin,
               int64_t end, const kernels::ConvTask& outputs) const;
  Affine MakeAffine(const Layer& layer, const at::Tensor& style,
                    const kernels::ChannelMoments& moments) const;

  int64_t channels_ = 0;
  int64_t width_ = 0;          // floats of a row
  std::vector<Layer> layers_;  // the second layer of each pair adds the input of the first
};

}  // namespace millrace::kokoro
