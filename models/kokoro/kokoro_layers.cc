#include "models/kokoro/kokoro_layers.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_cudnn_rnn_flatten_weight.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/conv_transpose1d.h>
#include <ATen/ops/instance_norm.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/square.h>
#include <ATen/ops/var_mean.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <numbers>
#include <utility>

#include "models/core/strings.h"
#include "mps_runtime/linear.h"

namespace millrace::kokoro {
namespace {

// The number of flags, so that rows of inputs stay aligned for the device's matrix units.
constexpr int64_t kFlags = 8;
// The weight of each flag in the sigmoid's argument, which makes the gate 0 whatever else is in the
// sum.
constexpr double kShut = -1e4;

void CheckTaps(speech::TensorReader& weights, const std::string& name,
               const speech::StoredTensor& weight) {
  if (weight.defined() && weight.size(2) % 2 == 0) {
    weights.Refuse(name + ".weight",
                   StrCat("has ", weight.size(2), " taps; only an odd number is supported"));
  }
}

}  // namespace

at::Tensor Stretch(const at::Tensor& x, int64_t times) {
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.push_back(times);
  return x.unsqueeze(-1).expand(sizes).flatten(-2);
}

KokoroLinear KokoroLinear::Take(speech::TensorReader& weights, const std::string& name, int64_t out,
                                int64_t in) {
  KokoroLinear linear;
  linear.weight = weights.Take(name + ".weight", {out, in});
  if (linear.weight.defined()) linear.bias = weights.Take(name + ".bias", {linear.weight.size(0)});
  return linear;
}

at::Tensor KokoroLinear::Run(const at::Tensor& x) const { return runtime::Linear(x, weight, bias); }

KokoroAffine KokoroAffine::Take(speech::TensorReader& weights, const std::string& name, int64_t out,
                                int64_t in) {
  KokoroAffine affine;
  affine.weight = weights.TakeStored(name + ".weight", {out, in});
  if (affine.weight.defined()) affine.bias = weights.Take(name + ".bias", {affine.weight.size(0)});
  return affine;
}

at::Tensor KokoroAffine::Run(const at::Tensor& x) const {
  return runtime::Linear(x, weight.Floats(), bias);
}

KokoroConv KokoroConv::Take(speech::TensorReader& weights, const std::string& name, int64_t out,
                            int64_t in) {
  KokoroConv conv;
  conv.weight = weights.Take(name + ".weight", {out, in, -1});
  if (conv.weight.defined()) conv.bias = weights.TakeIfAny(name + ".bias", {conv.weight.size(0)});
  return conv;
}

KokoroConv KokoroConv::TakeSame(speech::TensorReader& weights, const std::string& name, int64_t out,
                                int64_t in) {
  KokoroConv conv = Take(weights, name, out, in);
  CheckTaps(weights, name, conv.weight);
  return conv;
}

KokoroConvToPack KokoroConvToPack::Take(speech::TensorReader& weights, const std::string& name,
                                        int64_t out, int64_t in) {
  KokoroConvToPack conv;
  conv.weight = weights.TakeToPack(name + ".weight", {out, in, -1});
  if (conv.weight.defined()) conv.bias = weights.TakeIfAny(name + ".bias", {conv.weight.size(0)});
  CheckTaps(weights, name, conv.weight);
  return conv;
}

at::Tensor KokoroConv::RunSame(const at::Tensor& x, int64_t dilation) const {
  return at::conv1d(x, weight, bias, 1, (weight.size(2) - 1) * dilation / 2, dilation);
}

KokoroSameConv KokoroSameConv::Take(speech::TensorReader& weights, const std::string& name,
                                    int64_t out, int64_t in, bool exact,
                                    kernels::Precision precision) {
  KokoroSameConv same;
  const auto conv = KokoroConvToPack::Take(weights, name, out, in);
  if (!conv.weight.defined()) return same;
  same.out_ = conv.weight.size(0);
  if (weights.device().is_cpu()) {
    same.cpu_.emplace(
        conv.weight, conv.bias,
        speech::PackedConv::Order{.exact = exact, .winograd = !exact, .precision = precision});
  } else {
    same.aten_ = {conv.weight.Floats(), conv.bias};
  }
  return same;
}

at::Tensor KokoroSameConv::Run(const at::Tensor& x) const {
  return cpu_ ? cpu_->Run(x) : aten_.RunSame(x);
}

KokoroUpsampling KokoroUpsampling::Take(speech::TensorReader& weights, const std::string& name,
                                        int64_t in, int64_t stride, kernels::Precision precision) {
  KokoroUpsampling up;
  KokoroConvToPack conv;
  conv.weight = weights.TakeToPack(name + ".weight", {in, -1, -1});
  if (!conv.weight.defined()) return up;
  conv.bias = weights.Take(name + ".bias", {conv.weight.size(1)});
  const int64_t taps = conv.weight.size(2);
  if (taps < stride || (taps - stride) % 2 != 0) {
    weights.Refuse(name + ".weight",
                   StrCat("has ", taps, " taps, which do not fit its ", "stride of ", stride));
  }
  if (!weights.status().ok()) return up;
  up.in_ = conv.weight.size(0);
  up.out_ = conv.weight.size(1);
  up.stride_ = stride;
  if (weights.device().is_cpu()) {
    up.cpu_.emplace(conv.weight, conv.bias, stride, precision);
  } else {
    up.aten_ = {conv.weight.Floats(), conv.bias};
  }
  return up;
}

at::Tensor KokoroUpsampling::Run(const at::Tensor& x) const {
  if (cpu_) return cpu_->Run(x);
  return at::conv_transpose1d(x, aten_.weight, aten_.bias, stride_,
                              (aten_.weight.size(2) - stride_) / 2);
}

KokoroRows KokoroRows::Take(speech::TensorReader& weights, const std::string& name, int64_t out,
                            int64_t in) {
  KokoroRows rows;
  const speech::StoredTensor weight = weights.TakeToPack(name + ".weight", {out, in});
  if (!weight.defined()) return rows;
  const at::Tensor bias = weights.Take(name + ".bias", {weight.size(0)});
  if (!weights.status().ok()) return rows;
  rows.out_ = weight.size(0);
  rows.in_ = weight.size(1);
  if (weights.device().is_cpu()) {
    rows.cpu_.emplace(weight, bias, speech::PackedConv::Order{.exact = true});
  } else {
    rows.aten_ = {weight.Floats(), bias};
  }
  return rows;
}

at::Tensor KokoroRows::Run(const at::Tensor& x) const {
  if (!cpu_) return aten_.Run(x);
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.back() = out_;
  return cpu_->RunRows(x.reshape({-1, in_})).reshape(sizes);
}

std::vector<at::Tensor> KokoroLstm::FloatsOf(const std::vector<speech::StoredTensor>& stored) {
  std::vector<at::Tensor> floats;
  floats.reserve(stored.size());
  for (const speech::StoredTensor& tensor : stored) floats.push_back(tensor.Floats());
  return floats;
}

KokoroLstm KokoroLstm::Take(speech::TensorReader& weights, const std::string& name, int64_t in,
                            bool padded) {
  KokoroLstm lstm;
  for (const char* direction : {"", "_reverse"}) {
    speech::StoredTensor recurrent =
        weights.TakeStored(StrCat(name, ".weight_hh_l0", direction), {-1, -1});
    if (!recurrent.defined()) return lstm;
    lstm.hidden = recurrent.size(1);
    if (recurrent.size(0) != 4 * lstm.hidden) {
      weights.Refuse(StrCat(name, ".weight_hh_l0", direction), "is not four square gates");
      return lstm;
    }
    const int64_t gates = 4 * lstm.hidden;
    lstm.stored.push_back(
        weights.TakeStored(StrCat(name, ".weight_ih_l0", direction), {gates, in}));
    lstm.stored.push_back(std::move(recurrent));
    for (const char* bias : {".bias_ih_l0", ".bias_hh_l0"})
      lstm.stored.emplace_back(weights.Take(StrCat(name, bias, direction), {gates}));
  }
  if (!std::ranges::all_of(lstm.stored, &speech::StoredTensor::defined)) return lstm;
  if (weights.device().is_cpu() && !padded) return lstm;
  lstm.parameters = FloatsOf(std::exchange(lstm.stored, {}));
  lstm.fused = FusedLstm::Make(lstm.parameters);
  if (lstm.fused) {
    lstm.parameters.clear();
    return lstm;
  }
  if (padded) lstm.AddFlags();
  lstm.Flatten();
  return lstm;
}

// The backward direction begins in the padding and must leave it with a state of zeros, as it would
// begin at the end. It does so when its input gate is shut there, because a new state is the old
// one and the input, each times its gate.
void KokoroLstm::AddFlags() {
  flags = kFlags;
  for (const size_t direction : {0U, 1U}) {
    at::Tensor& weight = parameters[4 * direction];
    const at::Tensor columns = at::zeros({weight.size(0), kFlags}, weight.options());
    columns.narrow(0, 0, hidden).fill_(kShut);  // the input gate's rows come first
    weight = at::cat({weight, columns}, 1);
  }
}

void KokoroLstm::Flatten() {
  if (!parameters.front().is_cuda()) return;
  // cuDNN reads the weights from one block of memory; otherwise each call would copy them there.
  constexpr int64_t kLstmMode = 2;  // the number of torch.backends.cudnn
  at::_cudnn_rnn_flatten_weight(parameters, 4, parameters.front().size(1), kLstmMode, hidden,
                                /*proj_size=*/0, /*num_layers=*/1, /*batch_first=*/true,
                                /*bidirectional=*/true);
}

at::Tensor KokoroLstm::Run(const at::Tensor& x, const KokoroExtent& extent) const {
  if (fused) return fused->Run(x, extent);
  const at::Tensor zeros = at::zeros({2, x.size(0), hidden}, x.options());
  at::Tensor input = x;
  if (!extent.whole()) {
    input = at::cat({x, (1 - extent.mask.transpose(1, 2)).expand({-1, -1, flags})}, 2);
  } else if (flags > 0) {
    input = at::cat({x, at::zeros({x.size(0), x.size(1), flags}, x.options())}, 2);
  }
  return std::get<0>(at::lstm(input, {zeros, zeros}, stored.empty() ? parameters : FloatsOf(stored),
                              /*has_biases=*/true,
                              /*num_layers=*/1, /*dropout=*/0, /*train=*/false,
                              /*bidirectional=*/true, /*batch_first=*/true));
}

KokoroStyleNorm KokoroStyleNorm::Take(speech::TensorReader& weights, const std::string& name,
                                      int64_t channels, int64_t style) {
  return {KokoroAffine::Take(weights, name + ".fc", 2 * channels, style)};
}

at::Tensor KokoroStyleNorm::Run(const at::Tensor& x, const at::Tensor& style,
                                const KokoroExtent& extent) const {
  const at::Tensor both = affine.Run(style).unsqueeze(2);
  const int64_t channels = x.size(1);
  const at::Tensor scales = 1 + both.narrow(1, 0, channels);
  const at::Tensor shifts = both.narrow(1, channels, channels);
  if (!extent.whole()) {
    const Scaling scaling = Scale(x, scales, shifts, extent);
    return at::addcmul(scaling.shift, x, scaling.scale);
  }
  const at::Tensor normal = at::instance_norm(x, {}, {}, {}, {}, /*use_input_stats=*/true,
                                              /*momentum=*/0, kNormEpsilon, /*cudnn_enabled=*/true);
  return scales * normal + shifts;
}

// The moments come from x with its zeros, for all channels at once: with the share s, mean = s *
// mean of all, and variance = s * (variance of all - (s - 1) * square of the mean of all).
KokoroStyleNorm::Scaling KokoroStyleNorm::Scale(const at::Tensor& x, const at::Tensor& scales,
                                                const at::Tensor& shifts,
                                                const KokoroExtent& extent) {
  const auto [all, mean] =
      at::var_mean(x, at::IntArrayRef{2}, /*unbiased=*/false, /*keepdim=*/true);
  const at::Tensor variance =
      (at::addcmul(all, at::square(mean), extent.excess, -1) * extent.share).clamp_min_(0);
  const at::Tensor scale = scales * at::rsqrt(variance + kNormEpsilon);
  return {scale, at::addcmul(shifts, mean * extent.share, scale, -1)};
}

KokoroStyleBlock KokoroStyleBlock::Take(speech::TensorReader& weights, const std::string& name,
                                        int64_t in, int64_t out, int64_t style, bool exact,
                                        kernels::Precision precision) {
  KokoroStyleBlock block;
  block.conv_1 = KokoroSameConv::Take(weights, name + ".conv1", out, in, exact, precision);
  if (!block.conv_1.defined()) return block;
  out = block.conv_1.out_channels();
  block.conv_2 = KokoroSameConv::Take(weights, name + ".conv2", out, out, exact, precision);
  block.norm_1 = KokoroStyleNorm::Take(weights, name + ".norm1", in, style);
  block.norm_2 = KokoroStyleNorm::Take(weights, name + ".norm2", out, style);
  if (weights.Has(name + ".pool.weight")) {
    block.pool.weight = weights.Take(name + ".pool.weight", {in, 1, 3});
    block.pool.bias = weights.Take(name + ".pool.bias", {in});
  }
  if (in != out) block.shortcut = KokoroSameConv::Take(weights, name + ".conv1x1", out, in, exact);
  return block;
}

at::Tensor KokoroStyleBlock::Run(const at::Tensor& x, const at::Tensor& style,
                                 const KokoroExtent& extent, const KokoroExtent& after) const {
  at::Tensor y = extent.Cut(at::leaky_relu(norm_1.Run(x, style, extent), kSlope));
  at::Tensor kept = x;
  if (pool.weight.defined()) {
    y = after.Cut(at::conv_transpose1d(y, pool.weight, pool.bias, /*stride=*/2, /*padding=*/1,
                                       /*output_padding=*/1, /*groups=*/x.size(1)));
    kept = Stretch(x, 2);
  }
  y = after.Cut(conv_1.Run(y));
  y = conv_2.Run(after.Cut(at::leaky_relu(norm_2.Run(y, style, after), kSlope)));
  if (shortcut.defined()) kept = shortcut.Run(kept);
  return after.Cut((y + kept) * (1 / std::numbers::sqrt2));
}

}  // namespace millrace::kokoro
