#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "mps_runtime/device_operator.h"

namespace millrace::speech {

// The operators of libtorch's library millrace_speech by which a device runs layers of generators
// in half precision; models/speech/cuda has CUDA's. Signals are rows, [batch, time, channels] in
// halves. Weights are packed, see PackForRows. A convolution or upsampling activates its input by a
// leaky ReLU of it times `factor`. Equal inputs give equal bits.
//
// A split signal is about as exact as one in float32: each value is the sum of two halves. Of each
// 32 channels it has the greater parts and then the smaller ones, as SplitOutputs has weights.
struct RowOperators {
  using WhyNot = std::string(const at::Tensor& weight, int64_t dilation);
  // Converts [batch, channels, time] in float32. Returns the moments of tiles of rows, too.
  using RowsOfChannels = std::tuple<at::Tensor, at::Tensor>(const at::Tensor& signal,
                                                            const at::Tensor& counts);
  // Returns moments, too. reflected: the result has its second row once more in front.
  using Upsample = std::tuple<at::Tensor, at::Tensor>(const at::Tensor& rows,
                                                      const at::Tensor& counts,
                                                      const at::Tensor& weight,
                                                      const at::Tensor& bias, double factor,
                                                      double slope, int64_t stride, bool reflected,
                                                      const at::Tensor& added);
  // One signal, whose rows are zero where the mask is, each of whose values stands for equally many
  // rows. split: the signal and the result are split; splits: the result is.
  using MaskedUpsample = at::Tensor(const at::Tensor& rows, const at::Tensor& weight,
                                    const std::optional<at::Tensor>& bias, double factor,
                                    double slope, int64_t stride, const at::Tensor& mask,
                                    bool split, bool splits);
  // The same. Adds up to two signals to the result.
  using MaskedConvolve = at::Tensor(const at::Tensor& rows, const at::Tensor& weight,
                                    const std::optional<at::Tensor>& bias, int64_t dilation,
                                    double factor, double slope, at::TensorList added,
                                    const at::Tensor& mask, bool split);
  // The hyperbolic tangent of the first half of the channels times the logistic function of the
  // second; both signals are split.
  using GateRows = at::Tensor(const at::Tensor& rows);
  using ChannelsOfRows = at::Tensor(const at::Tensor& rows, const at::Tensor& counts, double factor,
                                    double slope);
  // Returns the hyperbolic tangent of a convolution to one channel, [time] in float32. weight:
  // [taps, channels], not packed.
  using SamplesOfRows = at::Tensor(const at::Tensor& rows, const at::Tensor& weight,
                                   const std::optional<at::Tensor>& bias, double factor,
                                   double slope, bool split);

  // Returns none where no module registers them.
  static const std::optional<RowOperators>& Get();

  c10::TypedOperatorHandle<WhyNot> why_not;
  c10::TypedOperatorHandle<RowsOfChannels> rows_of_channels;
  c10::TypedOperatorHandle<Upsample> upsample;
  c10::TypedOperatorHandle<MaskedUpsample> masked_upsample;
  c10::TypedOperatorHandle<MaskedConvolve> masked_convolve;
  c10::TypedOperatorHandle<GateRows> gate_rows;
  c10::TypedOperatorHandle<ChannelsOfRows> channels_of_rows;
  c10::TypedOperatorHandle<SamplesOfRows> samples_of_rows;
};

// The inputs and outputs of a packed weight are multiples of this; products with outputs that are
// multiples of twice as many are faster.
inline constexpr int64_t kRowChunk = 64;

// Packs the weight of a convolution, [out, in, taps], to halves, [in / kRowChunk, taps, out,
// kRowChunk].
at::Tensor PackForRows(const at::Tensor& weight);
// Packs the weight of a transposed convolution, [in, out, 2 * stride], as that of a product with
// two taps whose columns are [stride, out].
at::Tensor PackTransposedForRows(const at::Tensor& weight, int64_t stride);

// The channels of a split signal are a multiple of this.
inline constexpr int64_t kSplitChannels = kRowChunk / 2;

// Doubles the channels of a weight in float32, [.., .., taps], for a split signal: side 0 or 1 of
// it, as that of the inputs, which are multiplied by the same, or of the outputs, which have the
// greater and the smaller parts of the weights.
at::Tensor SplitInputs(const at::Tensor& weight, int64_t side);
at::Tensor SplitOutputs(const at::Tensor& weight, int64_t side);

// Returns split rows [1, time, 2 * channels] of values in float32, [time, channels].
at::Tensor SplitRows(const at::Tensor& values);
// Returns the bias of a split signal, in which the greater parts are all.
at::Tensor SplitBias(const at::Tensor& bias);

// A convolution for the operators.
struct PackedRowConv {
  at::Tensor weight;
  std::optional<at::Tensor> bias;
  int64_t dilation = 1;
};
// Packs one from a split signal to a split one. weight: [out, in, taps]; bias may be undefined.
PackedRowConv PackSplitConv(const at::Tensor& weight, const at::Tensor& bias, int64_t dilation);

// Returns the reason why the operators cannot run a packed weight, or an empty string.
std::string WhyNotPacked(const at::Tensor& weight, int64_t dilation);

}  // namespace millrace::speech
