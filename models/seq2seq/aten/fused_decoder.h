#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>

#include "models/seq2seq/aten/transformer.h"

namespace millrace::seq2seq {

// The input of several decoder steps, each of which decodes one more token of each row. All tensors
// are int64 on the device and contiguous.
struct FusedStepsInput {
  at::Tensor positions;       // [rows], the positions of the first step's tokens
  at::Tensor path;            // [rows * width], slots of the tokens up to the last step, then any
  at::Tensor sources;         // [rows * source width], slots of the source's tokens, then any
  at::Tensor source_lengths;  // [rows]
};

// A decoder step of a transformer in half precision, where a device's backend registers operators
// for it, in libtorch's library millrace_seq2seq: CUDA's does. Attention reads the slots of the
// cache where they are, and norms, residuals, biases and the choice of a token are one pass each.
// Immutable, for any thread.
class FusedDecoder {
 public:
  // Returns none if the device of the weights has no such operators or they do not support the
  // network; `why_not` then has the reason, or is empty where the device has none.
  static std::optional<FusedDecoder> Make(const TransformerWeights& weights, std::string& why_not);

  // Returns the scores of the token after the step's, float32 [rows, padded vocabulary], without
  // the output's bias. Writes the slots of the step's tokens; rows must not read each other's.
  // tokens: int64 [rows], the last of each hypothesis. step: how many steps came before.
  at::Tensor Step(const FusedStepsInput& input, const at::Tensor& tokens, int64_t step,
                  const DeviceKvCache& cache) const;
  // Writes each row's token to `chosen`: the forced one unless it is negative, else the likeliest
  // that is neither suppressed nor, where forced is -2 - t, t; or -1 if the scores are not finite.
  // Returns the tokens to go on with.
  at::Tensor Choose(const at::Tensor& scores, const at::Tensor& forced,
                    const at::Tensor& chosen) const;

 private:
  explicit FusedDecoder(const TransformerWeights& weights);

  at::Tensor RunFewRows(const FusedStepsInput& input, at::Tensor x, int64_t step,
                        const DeviceKvCache& cache) const;
  at::Tensor RunManyRows(const FusedStepsInput& input, at::Tensor x, at::Tensor normed,
                         int64_t step, const DeviceKvCache& cache) const;

  TransformerWeights weights_;
  at::Tensor choice_bias_;  // the output's, minus infinity for suppressed tokens
};

}  // namespace millrace::seq2seq
