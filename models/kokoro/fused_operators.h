#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "mps_runtime/device_operator.h"

namespace millrace::kokoro {

// The operators of libtorch's library millrace_kokoro by which a device runs blocks in half
// precision; models/kokoro/cuda has CUDA's. Signals are rows, [batch, time, channels] in halves,
// with moments for the norm of the next layer. Weights are packed, see PackForRows. A style is
// [batch, 2 * channels] for each norm: its scales, then its shifts.
struct FusedOperators {
  using WhyNot = std::string(const at::Tensor& weight, int64_t dilation);
  using RowsOfChannels = std::tuple<at::Tensor, at::Tensor>(const at::Tensor& signal,
                                                            const at::Tensor& counts);
  using Upsample = std::tuple<at::Tensor, at::Tensor>(const at::Tensor& rows,
                                                      const at::Tensor& counts,
                                                      const at::Tensor& weight,
                                                      const at::Tensor& bias, double factor,
                                                      double slope, int64_t stride, bool reflected,
                                                      const at::Tensor& added);
  using SnakeBlock = at::Tensor(const at::Tensor& rows, const at::Tensor& moments,
                                const at::Tensor& styles, const at::Tensor& counts,
                                at::TensorList weights, at::IntArrayRef dilations,
                                const std::optional<at::Tensor>& bias,
                                const std::optional<at::Tensor>& added);
  using ChannelsOfRows = at::Tensor(const at::Tensor& rows, const at::Tensor& counts, double factor,
                                    double slope);

  // Returns none where no module registers them.
  static const std::optional<FusedOperators>& Get();

  c10::TypedOperatorHandle<WhyNot> why_not;
  c10::TypedOperatorHandle<RowsOfChannels> rows_of_channels;
  c10::TypedOperatorHandle<Upsample> upsample;
  c10::TypedOperatorHandle<SnakeBlock> snake_block;
  c10::TypedOperatorHandle<ChannelsOfRows> channels_of_rows;
};

// The inputs of a packed weight are a multiple of this, and its outputs of that.
inline constexpr int64_t kRowChunk = 64;
inline constexpr int64_t kRowColumns = 128;

// Packs the weight of a convolution, [out, in, taps], to halves, [in / kRowChunk, taps, out,
// kRowChunk].
at::Tensor PackForRows(const at::Tensor& weight);

// Returns the reason why the operators cannot run a packed weight, or an empty string.
std::string WhyNotPacked(const at::Tensor& weight, int64_t dilation);

}  // namespace millrace::kokoro
