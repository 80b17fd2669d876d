// The CUDA implementation of the operators of models/kokoro/fused_operators.h and
// split_style_block.cc, in the CUDA module.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <cuda.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "models/kokoro/cuda/snake_kernels_source.h"
#include "mps_runtime/backend/cuda/cuda_kernels.h"

namespace millrace::kokoro {
namespace {

using runtime::Parts;

// These are constants of the kernels, too.
constexpr int64_t kChunk = 64;
constexpr int kHopper = 9;  // the major number of its compute capability
constexpr int kThreads = 128;
constexpr int kGroupThreads = 256;
constexpr int kWeightStages = 3;
constexpr int kLargeTile = 128;
constexpr int kSmallTile = 64;
constexpr int kLeastWarpRows = 16;  // a warp computes at least so many rows of a tile
constexpr int kTransposed = 32;     // rows and channels that a block transposes at a time
constexpr int kTransposedRows = 128;
constexpr int kDoubled = 256;  // threads of a block that doubles rows

// As many blocks run on a multiprocessor at a time; fewer blocks leave some idle. Groups of warps
// are faster than smaller tiles even when they leave two fifths of the multiprocessors idle.
constexpr int64_t kBlocksAtOnce = 2;
constexpr double kBlocksOfGroups = 0.6;

// The shared memory of a convolution: the stages of weights and two chunks of rows, or the result
// and its moments.
int64_t SharedBytes(int tile, int64_t reach) {
  const int64_t rows = int64_t{Parts(tile + reach, 8)} * 8;
  const int64_t product = kWeightStages * tile * kChunk * 2 + 2 * rows * kChunk * 2;
  const int64_t partial_sums = 2 * tile * static_cast<int64_t>(sizeof(float));
  const int64_t result = tile * (tile * 2 + 16) + tile / kLeastWarpRows * partial_sums;
  return std::max(product, result);
}

// A kernel for large tiles, which on Hopper multiplies in groups of four warps, and one for small
// ones.
struct Tiled {
  CUfunction large, small;
  int threads_for_large;
};

// The compiled kernels.
class SnakeKernels : public runtime::CudaKernels {
 public:
  // Compiled at the first call.
  static const SnakeKernels& Get() {
    static const SnakeKernels& kernels = *new SnakeKernels;
    return kernels;
  }

  CUfunction rows_of_channels = Find("RowsOfChannels");
  CUfunction finish_norm = Find("FinishNorm");
  CUfunction channels_of_rows = Find("ChannelsOfRows");
  CUfunction row_moments = Find("RowMoments");
  CUfunction double_length = Find("DoubleLength");
  Tiled snake_convolution = FindTiled("SnakeConvolution");
  Tiled upsample = FindTiled("Upsample");

  // The largest distance between the first and the last tap of a convolution, a multiple of 8.
  int64_t max_reach() const {
    return (max_shared_bytes() - SharedBytes(kLargeTile, 0)) / (2 * kChunk * 2) / 8 * 8;
  }
  // Products of fewer large tiles are faster in small ones.
  int64_t least_large_tiles() const {
    return capability() / 10 == kHopper ? static_cast<int64_t>(kBlocksOfGroups * multiprocessors())
                                        : kBlocksAtOnce * multiprocessors();
  }

 private:
  SnakeKernels() : CudaKernels(kSnakeKernelsSource, "snake_kernels.cu", /*capability=*/80) {}

  Tiled FindTiled(const std::string& name) {
    const auto find = [&](const std::string& form, int tile) {
      return Find((name + form).c_str(), SharedBytes(tile, max_reach()));
    };
    const CUfunction small = find("64", kSmallTile);
    if (capability() / 10 == kHopper) return {find("Groups", kLargeTile), small, kGroupThreads};
    return {find("128", kLargeTile), small, kThreads};
  }
};

// The arguments of the kernels, as they declare them.
struct Product {
  const void* x = nullptr;
  const void* weights = nullptr;
  const void* bias = nullptr;
  const void* counts = nullptr;
  std::array<const void*, 2> added = {};
  void* out = nullptr;
  void* moments = nullptr;
  int in_time = 0, in_channels = 0, time = 0, channels = 0, taps = 0, dilation = 1;
};
struct LeakyActivation {
  float factor, slope;
};
struct UpsampledRows {
  int stride, cut, reflected;
};

int ToInt(int64_t value) { return static_cast<int>(value); }

// Launches the kernel for a tile. `grid` counts tiles.
template <typename... Arguments>
void LaunchTiles(const Tiled& kernels, int tile, dim3 grid, int64_t reach,
                 const Arguments&... arguments) {
  const bool large = tile == kLargeTile;
  SnakeKernels::Get().Launch(large ? kernels.large : kernels.small, grid,
                             dim3(large ? kernels.threads_for_large : kThreads),
                             SharedBytes(tile, reach), arguments...);
}

const void* DataOf(const std::optional<at::Tensor>& tensor) {
  return tensor ? tensor->const_data_ptr() : nullptr;
}

// Returns the tile with which a product of so many rows and columns is fastest.
int TileOf(int64_t batch, int64_t rows, int64_t columns) {
  const int64_t blocks = batch * Parts(rows, kLargeTile) * Parts(columns, kLargeTile);
  return blocks >= SnakeKernels::Get().least_large_tiles() ? kLargeTile : kSmallTile;
}

std::string WhyNot(const at::Tensor& weight, int64_t dilation) {
  const SnakeKernels& kernels = SnakeKernels::Get();
  if (!kernels.why_not().empty()) return kernels.why_not();
  if ((weight.size(1) - 1) * dilation > kernels.max_reach())
    return "the taps of a convolution are too far apart for the device's shared memory";
  return {};
}

std::tuple<at::Tensor, at::Tensor> RowsOfChannels(const at::Tensor& signal,
                                                  const at::Tensor& counts) {
  const at::Tensor x = signal.contiguous();
  const int64_t batch = x.size(0), channels = x.size(1), time = x.size(2);
  const unsigned tiles = Parts(time, kTransposedRows);
  const at::Tensor rows = at::empty({batch, time, channels}, x.options().dtype(at::kHalf));
  const at::Tensor moments = at::empty({batch, tiles, 2, channels}, x.options());
  const SnakeKernels& kernels = SnakeKernels::Get();
  kernels.Launch(kernels.rows_of_channels,
                 dim3(tiles, Parts(channels, kTransposed), Parts(batch, 1)), dim3(32, 8), 0,
                 x.const_data_ptr(), counts.const_data_ptr(), rows.mutable_data_ptr(),
                 moments.mutable_data_ptr(), ToInt(time), ToInt(channels));
  return {rows, moments};
}

std::tuple<at::Tensor, at::Tensor> Upsample(const at::Tensor& rows, const at::Tensor& counts,
                                            const at::Tensor& weight, const at::Tensor& bias,
                                            double factor, double slope, int64_t stride,
                                            bool reflected, const at::Tensor& added) {
  const int64_t batch = rows.size(0), columns = weight.size(2);
  const int64_t products = rows.size(1) + 1;
  const int tile = TileOf(batch, products, columns);
  const unsigned tiles = Parts(products, tile);
  const at::Tensor result = at::empty_like(added);
  const at::Tensor moments = at::empty({batch, tiles * stride, 2, added.size(2)}, counts.options());
  const Product product{.x = rows.const_data_ptr(),
                        .weights = weight.const_data_ptr(),
                        .bias = bias.const_data_ptr(),
                        .counts = counts.const_data_ptr(),
                        .added = {added.const_data_ptr(), nullptr},
                        .out = result.mutable_data_ptr(),
                        .moments = moments.mutable_data_ptr(),
                        .in_time = ToInt(rows.size(1)),
                        .in_channels = ToInt(rows.size(2)),
                        .time = ToInt(added.size(1)),
                        .channels = ToInt(added.size(2)),
                        .taps = 2,
                        .dilation = 1};
  const LeakyActivation activation{static_cast<float>(factor), static_cast<float>(slope)};
  const UpsampledRows map{ToInt(stride), ToInt(stride / 2), reflected ? 1 : 0};
  LaunchTiles(SnakeKernels::Get().upsample, tile,
              dim3(tiles, Parts(columns, tile), Parts(batch, 1)),
              /*reach=*/1, product, activation, map);
  return {result, moments};
}

// Returns the scales and shifts of a norm, [batch, 2, channels]. style: of this layer, in a row of
// `stride` for each sentence.
at::Tensor FinishNorm(const at::Tensor& moments, const float* style, int64_t stride,
                      const at::Tensor& counts) {
  const int64_t batch = moments.size(0), channels = moments.size(3);
  const at::Tensor norm = at::empty({batch, 2, channels}, moments.options());
  const SnakeKernels& kernels = SnakeKernels::Get();
  kernels.Launch(kernels.finish_norm, dim3(Parts(channels, kTransposed), Parts(batch, 1)),
                 dim3(32, 8), 0, moments.const_data_ptr(), style, ToInt(stride),
                 counts.const_data_ptr(), norm.mutable_data_ptr(), ToInt(moments.size(1)),
                 ToInt(channels));
  return norm;
}

// A convolution that keeps the length of rows [batch, time, channels].
struct Convolution {
  const at::Tensor& rows;
  const at::Tensor& weight;  // packed
  const at::Tensor& counts;
  int64_t dilation = 1;
  const void* bias = nullptr;
  std::array<const void*, 2> added = {};  // signals of the shape of the result to add
  bool with_moments = true;
};
struct Convolved {
  at::Tensor rows, moments;
};

// The arguments are those of the kernel behind the product.
template <typename... Arguments>
Convolved Run(const Convolution& convolution, const Tiled& kernel, const Arguments&... arguments) {
  const at::Tensor& weight = convolution.weight;
  const int64_t batch = convolution.rows.size(0), time = convolution.rows.size(1);
  const int64_t taps = weight.size(1), channels = weight.size(2);
  const int tile = TileOf(batch, time, channels);
  const unsigned tiles = Parts(time, tile);
  Convolved result = {at::empty({batch, time, channels}, convolution.rows.options()), {}};
  if (convolution.with_moments) {
    result.moments =
        at::empty({batch, tiles, 2, channels}, convolution.rows.options().dtype(at::kFloat));
  }
  const Product product{
      .x = convolution.rows.const_data_ptr(),
      .weights = weight.const_data_ptr(),
      .bias = convolution.bias,
      .counts = convolution.counts.const_data_ptr(),
      .added = convolution.added,
      .out = result.rows.mutable_data_ptr(),
      .moments = convolution.with_moments ? result.moments.mutable_data_ptr() : nullptr,
      .in_time = ToInt(time),
      .in_channels = ToInt(convolution.rows.size(2)),
      .time = ToInt(time),
      .channels = ToInt(channels),
      .taps = ToInt(taps),
      .dilation = ToInt(convolution.dilation)};
  LaunchTiles(kernel, tile, dim3(tiles, Parts(channels, tile), Parts(batch, 1)),
              (taps - 1) * convolution.dilation, product, arguments...);
  return result;
}

at::Tensor SnakeBlock(const at::Tensor& rows, const at::Tensor& moments, const at::Tensor& styles,
                      const at::Tensor& counts, at::TensorList weights, at::IntArrayRef dilations,
                      const std::optional<at::Tensor>& bias,
                      const std::optional<at::Tensor>& added) {
  at::Tensor sum = rows;  // adds the input and the pairs so far
  Convolved x = {rows, moments};
  const float* style = styles.const_data_ptr<float>();
  for (size_t layer = 0; layer < weights.size(); ++layer, style += 2 * rows.size(2)) {
    const at::Tensor norm = FinishNorm(x.moments, style, styles.stride(0), counts);
    const bool second = layer % 2 == 1;
    const bool last = layer + 1 == weights.size();
    x = Run({.rows = x.rows,
             .weight = weights[layer],
             .counts = counts,
             .dilation = dilations[layer],
             .bias = last ? DataOf(bias) : nullptr,
             .added = {second ? sum.const_data_ptr() : nullptr, last ? DataOf(added) : nullptr},
             .with_moments = !last},
            SnakeKernels::Get().snake_convolution, norm.const_data_ptr());
    if (second) sum = x.rows;
  }
  return sum;
}

// The style norm of a signal [batch, time, channels] in float32.
at::Tensor StyleNorm(const at::Tensor& x, const at::Tensor& style, const at::Tensor& counts) {
  const SnakeKernels& kernels = SnakeKernels::Get();
  const int64_t batch = x.size(0), time = x.size(1), channels = x.size(2);
  const unsigned tiles = Parts(time, kTransposedRows);
  const at::Tensor moments = at::empty({batch, tiles, 2, channels}, x.options());
  kernels.Launch(kernels.row_moments, dim3(tiles, Parts(channels, kChunk), Parts(batch, 1)),
                 dim3(32, 8), 0, x.const_data_ptr(), counts.const_data_ptr(),
                 moments.mutable_data_ptr(), ToInt(time), ToInt(channels));
  return FinishNorm(moments, style.const_data_ptr<float>(), style.stride(0), counts);
}

at::Tensor DoubleLength(const at::Tensor& x, const at::Tensor& counts, const at::Tensor& norm,
                        double slope, const at::Tensor& weight, const at::Tensor& bias) {
  const int64_t batch = x.size(0), time = x.size(1), channels = x.size(2);
  const at::Tensor doubled = at::empty({batch, 2 * time, channels}, x.options());
  const SnakeKernels& kernels = SnakeKernels::Get();
  kernels.Launch(kernels.double_length, dim3(Parts(time * channels / 2, kDoubled), Parts(batch, 1)),
                 dim3(kDoubled), 0, x.const_data_ptr(), counts.const_data_ptr(),
                 norm.const_data_ptr(), static_cast<float>(slope), weight.const_data_ptr(),
                 bias.const_data_ptr(), doubled.mutable_data_ptr(), ToInt(time), ToInt(channels));
  return doubled;
}

at::Tensor ChannelsOfRows(const at::Tensor& rows, const at::Tensor& counts, double factor,
                          double slope) {
  const int64_t batch = rows.size(0), time = rows.size(1), channels = rows.size(2);
  const at::Tensor result = at::empty({batch, channels, time}, counts.options());
  const LeakyActivation activation{static_cast<float>(factor), static_cast<float>(slope)};
  const SnakeKernels& kernels = SnakeKernels::Get();
  kernels.Launch(kernels.channels_of_rows,
                 dim3(Parts(time, kTransposed), Parts(channels, kTransposed), Parts(batch, 1)),
                 dim3(32, 8), 0, rows.const_data_ptr(), counts.const_data_ptr(), activation,
                 result.mutable_data_ptr(), ToInt(time), ToInt(channels));
  return result;
}

TORCH_LIBRARY_FRAGMENT(millrace_kokoro, library) {
  library.def("why_not(Tensor weight, int dilation) -> str");
  library.def("rows_of_channels(Tensor signal, Tensor counts) -> (Tensor, Tensor)");
  library.def(
      "upsample(Tensor rows, Tensor counts, Tensor weight, Tensor bias, float factor, "
      "float slope, int stride, bool reflected, Tensor added) -> (Tensor, Tensor)");
  library.def(
      "snake_block(Tensor rows, Tensor moments, Tensor styles, Tensor counts, Tensor[] weights, "
      "int[] dilations, Tensor? bias, Tensor? added) -> Tensor");
  library.def("style_norm(Tensor x, Tensor style, Tensor counts) -> Tensor");
  library.def(
      "double_length(Tensor x, Tensor counts, Tensor norm, float slope, Tensor weight, "
      "Tensor bias) -> Tensor");
  library.def("channels_of_rows(Tensor rows, Tensor counts, float factor, float slope) -> Tensor");
}

TORCH_LIBRARY_IMPL(millrace_kokoro, CUDA, library) {
  library.impl("why_not", WhyNot);
  library.impl("rows_of_channels", RowsOfChannels);
  library.impl("upsample", Upsample);
  library.impl("snake_block", SnakeBlock);
  library.impl("style_norm", StyleNorm);
  library.impl("double_length", DoubleLength);
  library.impl("channels_of_rows", ChannelsOfRows);
}

}  // namespace
}  // namespace millrace::kokoro
