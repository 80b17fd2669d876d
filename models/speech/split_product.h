#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace millrace::speech {

// A matrix product that is about as exact as one in float32, by three products in half precision
// that are added in float32: each factor is the sum of its rounded value and the rest. A GPU's
// matrix units then compute it several times as fast. Operators of libtorch's library
// millrace_speech split the other factor, and do in the same pass what comes before and after:
// CUDA's module registers them. Immutable, for any thread.
class SplitProduct {
 public:
  // Returns true if the operators exist on the device of a tensor.
  static bool SupportedFor(const at::Tensor& tensor);

  SplitProduct() = default;
  // weight: [out, in], or that of a convolution, [out, in, taps]; both sizes must be even. bias:
  // [out].
  SplitProduct(const at::Tensor& weight, const at::Tensor& bias);

  int64_t out() const { return bias_.size(0); }
  const at::Tensor& bias() const { return bias_; }
  // The result of Multiply counts times this, plus the bias.
  double scale() const { return scale_; }

  // Returns [rows, out]. split: [rows, 3 * in * taps].
  at::Tensor Multiply(const at::Tensor& split) const;
  // Returns (product * scale + bias + kept) * factor: [rows, out]. kept: none, or rows each of
  // which counts for `repeat` ones.
  at::Tensor Finish(const at::Tensor& product, const std::optional<at::Tensor>& kept = {},
                    int64_t repeat = 1, double factor = 1) const;
  // Returns the layer norm of product * scale + bias + residual, of at most 2,048 values, and the
  // same split.
  std::pair<at::Tensor, at::Tensor> FinishNorm(const at::Tensor& product,
                                               const at::Tensor& residual, const at::Tensor& weight,
                                               const at::Tensor& shift, double epsilon) const;
  // Returns the GELU of product * scale + bias, split.
  at::Tensor FinishGelu(const at::Tensor& product) const;

  // Splits the rows of x [..., in].
  static at::Tensor Split(const at::Tensor& x);
  // Returns what a convolution that keeps the length multiplies, [batch * time, 3 * taps *
  // channels]: of x [batch, time, channels], or of the leaky ReLU of x with a norm [batch, 2,
  // channels], its scales and its shifts. Zeros are beyond the counts, or without them beyond the
  // ends.
  static at::Tensor Unfold(const at::Tensor& x, const std::optional<at::Tensor>& counts,
                           const std::optional<at::Tensor>& norm, double slope, int64_t taps);

 private:
  at::Tensor weight_;  // [out, 3 * in * taps], halves
  at::Tensor bias_;
  double scale_ = 1;
};

}  // namespace millrace::speech
