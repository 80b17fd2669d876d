#include "models/synthesis/kokoro_layers.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_cudnn_rnn_flatten_weight.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/conv_transpose1d.h>
#include <ATen/ops/instance_norm.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "absl/strings/str_cat.h"

namespace millrace::models {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr double kSlope = 0.2;

}  // namespace

KokoroLinear KokoroLinear::Take(TensorReader& weights, const std::string& name, int64_t out,
                                int64_t in) {
  KokoroLinear linear;
  linear.weight = weights.Take(name + ".weight", {out, in});
  if (linear.weight.defined()) linear.bias = weights.Take(name + ".bias", {linear.weight.size(0)});
  return linear;
}

at::Tensor KokoroLinear::Run(const at::Tensor& x) const { return at::linear(x, weight, bias); }

KokoroConv KokoroConv::Take(TensorReader& weights, const std::string& name, int64_t out,
                            int64_t in) {
  KokoroConv conv;
  conv.weight = weights.Take(name + ".weight", {out, in, -1});
  if (conv.weight.defined()) conv.bias = weights.TakeIfAny(name + ".bias", {conv.weight.size(0)});
  return conv;
}

KokoroConv KokoroConv::TakeSame(TensorReader& weights, const std::string& name, int64_t out,
                                int64_t in) {
  KokoroConv conv = Take(weights, name, out, in);
  if (conv.weight.defined() && conv.weight.size(2) % 2 == 0) {
    weights.Refuse(name + ".weight", absl::StrCat("has ", conv.weight.size(2),
                                                  " taps; only an odd number is supported"));
  }
  return conv;
}

at::Tensor KokoroConv::RunSame(const at::Tensor& x, int64_t dilation) const {
  return at::conv1d(x, weight, bias, 1, (weight.size(2) - 1) * dilation / 2, dilation);
}

KokoroLstm KokoroLstm::Take(TensorReader& weights, const std::string& name, int64_t in) {
  KokoroLstm lstm;
  for (const char* direction : {"", "_reverse"}) {
    const at::Tensor recurrent =
        weights.Take(absl::StrCat(name, ".weight_hh_l0", direction), {-1, -1});
    if (!recurrent.defined()) return lstm;
    lstm.hidden = recurrent.size(1);
    if (recurrent.size(0) != 4 * lstm.hidden) {
      weights.Refuse(absl::StrCat(name, ".weight_hh_l0", direction), "is not four square gates");
      return lstm;
    }
    const int64_t gates = 4 * lstm.hidden;
    lstm.parameters.push_back(
        weights.Take(absl::StrCat(name, ".weight_ih_l0", direction), {gates, in}));
    lstm.parameters.push_back(recurrent);
    lstm.parameters.push_back(weights.Take(absl::StrCat(name, ".bias_ih_l0", direction), {gates}));
    lstm.parameters.push_back(weights.Take(absl::StrCat(name, ".bias_hh_l0", direction), {gates}));
  }
  const bool all = std::all_of(lstm.parameters.begin(), lstm.parameters.end(),
                               [](const at::Tensor& tensor) { return tensor.defined(); });
  if (all && lstm.parameters.front().is_cuda()) {
    // cuDNN reads them from one piece of memory: otherwise they are copied there at each call.
    constexpr int64_t kLstmMode = 2;  // as torch.backends.cudnn numbers it
    at::_cudnn_rnn_flatten_weight(lstm.parameters, 4, lstm.parameters.front().size(1), kLstmMode,
                                  lstm.hidden, /*proj_size=*/0, /*num_layers=*/1,
                                  /*batch_first=*/true, /*bidirectional=*/true);
  }
  return lstm;
}

at::Tensor KokoroLstm::Run(const at::Tensor& x) const {
  const at::Tensor zeros = at::zeros({2, 1, hidden}, x.options());
  return std::get<0>(at::lstm(x, {zeros, zeros}, parameters, /*has_biases=*/true, /*num_layers=*/1,
                              /*dropout=*/0, /*train=*/false, /*bidirectional=*/true,
                              /*batch_first=*/true));
}

KokoroStyleNorm KokoroStyleNorm::Take(TensorReader& weights, const std::string& name,
                                      int64_t channels, int64_t style) {
  return {KokoroLinear::Take(weights, name + ".fc", 2 * channels, style)};
}

at::Tensor KokoroStyleNorm::Run(const at::Tensor& x, const at::Tensor& style) const {
  const at::Tensor both = affine.Run(style).unsqueeze(2);
  const int64_t channels = x.size(1);
  const at::Tensor normal = at::instance_norm(x, {}, {}, {}, {}, /*use_input_stats=*/true,
                                              /*momentum=*/0, kEpsilon, /*cudnn_enabled=*/true);
  return (1 + both.narrow(1, 0, channels)) * normal + both.narrow(1, channels, channels);
}

KokoroStyleBlock KokoroStyleBlock::Take(TensorReader& weights, const std::string& name, int64_t in,
                                        int64_t out, int64_t style) {
  KokoroStyleBlock block;
  block.conv_1 = KokoroConv::TakeSame(weights, name + ".conv1", out, in);
  if (!block.conv_1.weight.defined()) return block;
  out = block.conv_1.weight.size(0);
  block.conv_2 = KokoroConv::TakeSame(weights, name + ".conv2", out, out);
  block.norm_1 = KokoroStyleNorm::Take(weights, name + ".norm1", in, style);
  block.norm_2 = KokoroStyleNorm::Take(weights, name + ".norm2", out, style);
  if (weights.Has(name + ".pool.weight")) {
    block.pool.weight = weights.Take(name + ".pool.weight", {in, 1, 3});
    block.pool.bias = weights.Take(name + ".pool.bias", {in});
  }
  if (in != out) block.shortcut.weight = weights.Take(name + ".conv1x1.weight", {out, in, 1});
  return block;
}

at::Tensor KokoroStyleBlock::Run(const at::Tensor& x, const at::Tensor& style) const {
  at::Tensor y = at::leaky_relu(norm_1.Run(x, style), kSlope);
  at::Tensor kept = x;
  if (pool.weight.defined()) {
    y = at::conv_transpose1d(y, pool.weight, pool.bias, /*stride=*/2, /*padding=*/1,
                             /*output_padding=*/1, /*groups=*/x.size(1));
    kept = at::repeat_interleave(x, 2, 2);
  }
  y = conv_1.RunSame(y);
  y = conv_2.RunSame(at::leaky_relu(norm_2.Run(y, style), kSlope));
  if (shortcut.weight.defined()) kept = shortcut.RunSame(kept);
  return (y + kept) * (1 / std::numbers::sqrt2);
}

}  // namespace millrace::models
