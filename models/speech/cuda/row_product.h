#pragma once

#include <ATen/core/Tensor.h>
#include <cuda.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "models/speech/cuda/row_product_source.h"
#include "mps_runtime/backend/cuda/cuda_kernels.h"

namespace millrace::speech {

// Kernels whose text follows models/speech/cuda/row_product.cu, and how its products are launched.
class RowKernels : public runtime::CudaKernels {
 public:
  // These are constants of the kernels, too.
  static constexpr int64_t kChunk = 64;
  static constexpr int kTransposed = 32;  // rows and channels that a block transposes at a time
  static constexpr int kTransposedRows = 128;

  // A kernel for large tiles, which on Hopper multiplies in groups of four warps, and one for small
  // ones.
  struct Tiled {
    CUfunction large, small;
    int threads_for_large;
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

  // The largest distance between the first and the last tap of a convolution, a multiple of 8.
  int64_t max_reach() const {
    return (max_shared_bytes() - SharedBytes(kLargeTile, 0)) / (2 * kChunk * 2) / 8 * 8;
  }
  // Returns the tile with which a product of so many rows is fastest; its columns are results of
  // `channels` each.
  int TileOf(int64_t batch, int64_t rows, int64_t columns, int64_t channels) const {
    if (channels % kLargeTile != 0) return kSmallTile;
    const int64_t blocks =
        batch * runtime::Parts(rows, kLargeTile) * runtime::Parts(columns, kLargeTile);
    return blocks >= LeastLargeTiles() ? kLargeTile : kSmallTile;
  }
  // Launches the kernel for a tile. `grid` counts tiles.
  template <typename... Arguments>
  void LaunchTiles(const Tiled& kernels, int tile, dim3 grid, int64_t reach,
                   const Arguments&... arguments) const {
    const bool large = tile == kLargeTile;
    Launch(large ? kernels.large : kernels.small, grid,
           dim3(large ? kernels.threads_for_large : kThreads), SharedBytes(tile, reach),
           arguments...);
  }

 protected:
  // file: the name of the source in messages.
  RowKernels(const char* source, const char* file)
      : CudaKernels((std::string(kRowProductSource) + source).c_str(), file, /*capability=*/80) {}

  // Finds <name>64 and, for large tiles, <name>Groups or <name>128.
  Tiled FindTiled(const std::string& name) {
    const auto find = [&](const std::string& form, int tile) {
      return Find((name + form).c_str(), SharedBytes(tile, max_reach()));
    };
    const CUfunction small = find("64", kSmallTile);
    if (capability() / 10 == kHopper) return {find("Groups", kLargeTile), small, kGroupThreads};
    return {find("128", kLargeTile), small, kThreads};
  }

 private:
  static constexpr int kHopper = 9;  // the major number of its compute capability
  static constexpr int kThreads = 128;
  static constexpr int kGroupThreads = 256;
  static constexpr int kWeightStages = 3;
  static constexpr int kLargeTile = 128;
  static constexpr int kSmallTile = 64;
  static constexpr int kLeastWarpRows = 16;  // a warp computes at least so many rows of a tile
  // As many blocks run on a multiprocessor at a time; fewer blocks leave some idle. Groups of warps
  // are faster than smaller tiles even when they leave two fifths of the multiprocessors idle.
  static constexpr int64_t kBlocksAtOnce = 2;
  static constexpr double kBlocksOfGroups = 0.6;

  // The shared memory of a product: the stages of weights and two chunks of rows, or the result and
  // its moments.
  static int64_t SharedBytes(int tile, int64_t reach) {
    const int64_t rows = int64_t{runtime::Parts(tile + reach, 8)} * 8;
    const int64_t product = kWeightStages * tile * kChunk * 2 + 2 * rows * kChunk * 2;
    const int64_t partial_sums = 2 * tile * static_cast<int64_t>(sizeof(float));
    const int64_t result = tile * (tile * 2 + 16) + tile / kLeastWarpRows * partial_sums;
    return std::max(product, result);
  }
  // Products of fewer large tiles are faster in small ones.
  int64_t LeastLargeTiles() const {
    return capability() / 10 == kHopper ? static_cast<int64_t>(kBlocksOfGroups * multiprocessors())
                                        : kBlocksAtOnce * multiprocessors();
  }
};

inline int ToInt(int64_t value) { return static_cast<int>(value); }

inline const void* DataOf(const std::optional<at::Tensor>& tensor) {
  return tensor ? tensor->const_data_ptr() : nullptr;
}

}  // namespace millrace::speech
