#include "models/vits/fused_flow.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/flip.h>

#include <algorithm>
#include <utility>

namespace millrace::vits {
namespace {

using speech::PackedRowConv;
using speech::RowOperators;

// Returns the outputs [begin, begin + count) of a convolution.
VitsConv Part(const VitsConv& conv, int64_t begin, int64_t count) {
  return {.weight = conv.weight.narrow(0, begin, count),
          .bias = conv.bias.defined() ? conv.bias.narrow(0, begin, count) : conv.bias,
          .dilation = conv.dilation};
}

PackedRowConv Pack(const VitsConv& conv) {
  return speech::PackSplitConv(conv.weight, conv.bias, conv.dilation);
}

bool CanSplit(int64_t channels) { return channels % speech::kSplitChannels == 0; }

}  // namespace

std::optional<FusedFlow> FusedFlow::Make(const std::vector<VitsCoupling>& couplings,
                                         const VitsConv& pre) {
  if (!pre.weight.is_cuda() || !RowOperators::Get()) return std::nullopt;
  const int64_t half = pre.weight.size(1) / 2;
  if (!CanSplit(half) || pre.weight.size(0) % speech::kRowChunk != 0) return std::nullopt;
  bool supported = true;
  const auto check = [&](const PackedRowConv& conv) {
    supported = supported && speech::WhyNotPacked(conv.weight, conv.dilation).empty();
  };
  FusedFlow flow;
  // The first exchange leaves both halves swapped and reversed, the second restores them. So every
  // other coupling changes the first half by the second, both read backwards.
  bool reversed = true;
  for (const VitsCoupling& coupling : couplings) {
    const int64_t hidden = coupling.pre.weight.size(0);
    if (coupling.speaker.weight.defined() || !CanSplit(hidden)) return std::nullopt;
    const auto in_order = [&](const at::Tensor& values, int64_t side) {
      return reversed ? at::flip(values, {side}) : values;
    };
    Coupling fused;
    fused.pre = Pack({.weight = in_order(coupling.pre.weight, 1), .bias = coupling.pre.bias});
    // Its result is taken off.
    fused.post = Pack({.weight = -in_order(coupling.post.weight, 0),
                       .bias = coupling.post.bias.defined() ? -in_order(coupling.post.bias, 0)
                                                            : coupling.post.bias});
    check(fused.pre);
    check(fused.post);
    for (size_t i = 0; i < coupling.gates.size(); ++i) {
      const VitsConv& outputs = coupling.outputs[i];
      const bool last = outputs.weight.size(0) == hidden;
      Layer& layer = fused.layers.emplace_back();
      check(layer.gates = Pack(coupling.gates[i]));
      check(layer.skip = Pack(Part(outputs, last ? 0 : hidden, hidden)));
      if (!last) check(layer.residual = Pack(Part(outputs, 0, hidden)));
    }
    flow.couplings_.push_back(std::move(fused));
    reversed = !reversed;
  }
  flow.pre_ = {.weight = speech::PackForRows(speech::SplitInputs(pre.weight, 1)),
               .bias = pre.bias.defined() ? std::optional(pre.bias) : std::nullopt,
               .dilation = pre.dilation};
  check(flow.pre_);
  if (!supported || !reversed) return std::nullopt;
  return flow;
}

at::Tensor FusedFlow::Run(const at::Tensor& z, const at::Tensor& mask) const {
  const RowOperators& operators = *RowOperators::Get();
  const auto convolve = [&](const PackedRowConv& conv, const at::Tensor& x,
                            const std::vector<at::Tensor>& added) {
    return operators.masked_convolve.call(x, conv.weight, conv.bias, conv.dilation, 1, 1, added,
                                          mask, /*split=*/true);
  };
  const int64_t half = z.size(1) / 2;
  at::Tensor kept = speech::SplitRows(z.narrow(1, half, half));
  at::Tensor changed = speech::SplitRows(z.narrow(1, 0, half));
  for (const Coupling& coupling : couplings_) {
    at::Tensor x = convolve(coupling.pre, kept, {});
    at::Tensor skipped;
    for (const Layer& layer : coupling.layers) {
      const at::Tensor gated = operators.gate_rows.call(convolve(layer.gates, x, {}));
      std::vector<at::Tensor> added;
      if (skipped.defined()) added.push_back(skipped);
      skipped = convolve(layer.skip, gated, added);
      if (layer.residual.weight.defined()) x = convolve(layer.residual, gated, {x});
    }
    changed = convolve(coupling.post, skipped, {changed});
    std::swap(kept, changed);
  }
  // The halves have changed places an even number of times. They are a signal in half precision of
  // twice the channels, since nothing activates them.
  return operators.masked_convolve.call(at::cat({changed, kept}, 2), pre_.weight, pre_.bias,
                                        pre_.dilation, 1, 1, {}, mask, /*split=*/false);
}

}  // namespace millrace::vits
