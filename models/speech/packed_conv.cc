#include "models/speech/packed_conv.h"

#include <numeric>
#include <utility>

namespace millrace::speech {
namespace {

std::vector<int64_t> InOrder(int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

PackedConv::PackedConv(const at::Tensor& weight, const at::Tensor& bias, int64_t dilation,
                       const Order& order)
    : taps_(weight.size(2)), dilation_(dilation), exact_(order.exact), winograd_(order.winograd) {
  const std::vector<int64_t> inputs = order.inputs.empty() ? InOrder(weight.size(1)) : order.inputs;
  const std::vector<int64_t> outputs =
      order.outputs.empty() ? InOrder(weight.size(0)) : order.outputs;
  in_channels_ = static_cast<int64_t>(inputs.size());
  out_channels_ = PadChannels(static_cast<int64_t>(outputs.size()));
  weights_ = kernels::AlignedBuffer<float>::Zeros(
      static_cast<size_t>(out_channels_ * in_channels_ * taps_));
  bias_ = kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>(out_channels_));

  const auto from = weight.accessor<float, 3>();
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (outputs[o] < 0) continue;
    const int64_t block = static_cast<int64_t>(o) / kernels::kChannelBlock;
    const int64_t lane = static_cast<int64_t>(o) % kernels::kChannelBlock;
    if (bias.defined()) bias_.data()[o] = order.sign * bias.const_data_ptr<float>()[outputs[o]];
    for (int64_t tap = 0; tap < taps_; ++tap) {
      for (int64_t c = 0; c < in_channels_; ++c) {
        if (inputs[static_cast<size_t>(c)] < 0) continue;
        const int64_t at =
            ((block * taps_ + tap) * in_channels_ + c) * kernels::kChannelBlock + lane;
        weights_.data()[at] = order.sign * from[outputs[o]][inputs[static_cast<size_t>(c)]][tap];
      }
    }
  }
  Pack();
}

void PackedConv::Pack() {
  const kernels::ConvKernels& kernels = kernels::GetConvKernels();
  auto packed =
      kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>(kernels.packed_size(Task())));
  kernels.pack(Task(), packed.data());
  weights_ = std::move(packed);
}

PackedConv PackedConv::Transposed(const at::Tensor& weight, const at::Tensor& bias,
                                  int64_t stride) {
  const int64_t inputs = weight.size(0);
  const int64_t outputs = weight.size(1);
  const int64_t kernel = weight.size(2);
  const int64_t width = PadChannels(outputs);
  const int64_t taps = (kernel + stride - 1) / stride;
  PackedConv conv;
  conv.taps_ = taps;
  conv.in_channels_ = inputs;
  conv.out_channels_ = stride * width;
  conv.weights_ =
      kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>(conv.out_channels_ * inputs * taps));
  conv.bias_ = kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>(conv.out_channels_));
  const auto from = weight.accessor<float, 3>();
  for (int64_t phase = 0; phase < stride; ++phase) {
    for (int64_t o = 0; o < outputs; ++o) {
      const int64_t place = phase * width + o;
      conv.bias_.data()[place] = bias.const_data_ptr<float>()[o];
      for (int64_t tap = 0; tap < taps; ++tap) {
        // Tap 0 reads the oldest row.
        const int64_t k = phase + (taps - 1 - tap) * stride;
        if (k >= kernel) continue;
        for (int64_t c = 0; c < inputs; ++c) {
          const int64_t at = ((place / kernels::kChannelBlock * taps + tap) * inputs + c) *
                                 kernels::kChannelBlock +
                             place % kernels::kChannelBlock;
          conv.weights_.data()[at] = from[c][o][k];
        }
      }
    }
  }
  conv.Pack();
  return conv;
}

kernels::ConvTask PackedConv::Task() const {
  kernels::ConvTask task;
  task.weights = weights_.data();
  task.bias = bias_.data();
  task.taps = taps_;
  task.dilation = dilation_;
  task.in_channels = in_channels_;
  task.blocks = out_channels_ / kernels::kChannelBlock;
  task.exact = exact_;
  task.winograd = winograd_;
  return task;
}

}  // namespace millrace::speech
