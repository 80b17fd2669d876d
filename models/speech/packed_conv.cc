#include "models/speech/packed_conv.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "models/kernels/narrow_kernels.h"
#include "models/kernels/pack_store.h"

namespace millrace::speech {
namespace {

std::vector<int64_t> InOrder(int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Input channels whose weights of a block are read at once, so that they stay in the L1 cache.
constexpr int64_t kPackedChannels = 16;

// The values of a contiguous tensor, which are read or decoded when they are first asked for.
class LazyValues {
 public:
  explicit LazyValues(const StoredTensor& tensor) : tensor_(tensor) {}

  const float* data() const {
    if (data_ == nullptr) {
      floats_ = tensor_.Floats().contiguous();
      data_ = floats_.const_data_ptr<float>();
    }
    return data_;
  }

 private:
  const StoredTensor& tensor_;
  mutable at::Tensor floats_;
  mutable const float* data_ = nullptr;
};

}  // namespace

PackedConv::PackedConv(const StoredTensor& weight, const at::Tensor& bias, int64_t dilation,
                       const Order& order)
    : taps_(weight.dim() == 2 ? 1 : weight.size(2)),
      dilation_(dilation),
      exact_(order.exact),
      winograd_(order.winograd && order.precision == kernels::Precision::kFloat32) {
  const std::vector<int64_t> inputs = order.inputs.empty() ? InOrder(weight.size(1)) : order.inputs;
  const std::vector<int64_t> outputs =
      order.outputs.empty() ? InOrder(weight.size(0)) : order.outputs;
  in_channels_ = static_cast<int64_t>(inputs.size());
  out_channels_ = PadChannels(static_cast<int64_t>(outputs.size()));
  bias_ = kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>(out_channels_));
  for (size_t o = 0; o < outputs.size() && bias.defined(); ++o) {
    if (outputs[o] >= 0) bias_.data()[o] = order.sign * bias.const_data_ptr<float>()[outputs[o]];
  }
  const LazyValues values(weight);
  const auto row_of = [&](int64_t place, int64_t tap) -> const float* {
    const auto o = static_cast<size_t>(place);
    if (o >= outputs.size() || outputs[o] < 0) return nullptr;
    return values.data() + outputs[o] * weight.size(1) * taps_ + tap;
  };
  const auto offset_of = [&](int64_t c) {
    const int64_t input = inputs[static_cast<size_t>(c)];
    return input < 0 ? -1 : input * taps_;
  };
  if (order.precision == kernels::Precision::kInt8) {
    PackNarrow(row_of, offset_of, order.sign, order.scales_by_row);
  } else {
    Pack(row_of, offset_of, order.sign);
  }
}

template <typename RowOf, typename OffsetOf>
void PackedConv::PackNarrow(const RowOf& row_of, const OffsetOf& offset_of, float sign,
                            bool scales_by_row) {
  const int64_t width = PadChannels(in_channels_);
  const int64_t depth = taps_ * width;
  const auto weights = [&] {
    std::vector<float> weights(static_cast<size_t>(out_channels_ * depth), 0.0F);
    for (int64_t place = 0; place < out_channels_; ++place) {
      for (int64_t tap = 0; tap < taps_; ++tap) {
        const float* const row = row_of(place, tap);
        if (row == nullptr) continue;
        float* const to = weights.data() + place * depth + tap * width;
        for (int64_t c = 0; c < in_channels_; ++c) {
          const int64_t offset = offset_of(c);
          if (offset >= 0) to[c] = sign * row[offset];
        }
      }
    }
    return weights;
  };
  // Rows that the taps read one after another are one long row, which overlaps the next.
  const kernels::Taps taps = scales_by_row ? kernels::Taps() : kernels::Taps{taps_, dilation_};
  // Tasks add the bias.
  narrow_ = std::make_unique<const kernels::PackedNarrow>(
      out_channels_, depth, weights, std::span<const float>(), kernels::Precision::kInt8,
      kernels::SupportedInt8Kernels().front()->clips_pairs, taps);
}

template <typename RowOf, typename OffsetOf>
void PackedConv::Pack(const RowOf& row_of, const OffsetOf& offset_of, float sign) {
  const kernels::ConvKernels& kernels = kernels::GetConvKernels();
  kernels::ConvTask block = Task();
  block.blocks = 1;
  const int64_t block_size = kernels.packed_size(block);
  const int64_t blocks = out_channels_ / kernels::kChannelBlock;
  const auto size = static_cast<size_t>(blocks * block_size);
  if (kernels::FindPacked(size, weights_)) return;
  kernels::AlignedBuffer<float> packed(size);
  kernels::AlignedBuffer<float> weights(
      static_cast<size_t>(taps_ * in_channels_ * kernels::kChannelBlock));
  block.weights = weights.data();
  for (int64_t i = 0; i < blocks; ++i) {
    for (int64_t first = 0; first < in_channels_; first += kPackedChannels) {
      const int64_t last = std::min(first + kPackedChannels, in_channels_);
      for (int64_t tap = 0; tap < taps_; ++tap) {
        std::array<const float*, kernels::kChannelBlock> rows;
        for (int64_t lane = 0; lane < kernels::kChannelBlock; ++lane)
          rows[static_cast<size_t>(lane)] = row_of(i * kernels::kChannelBlock + lane, tap);
        for (int64_t c = first; c < last; ++c) {
          float* to = weights.data() + (tap * in_channels_ + c) * kernels::kChannelBlock;
          const int64_t offset = offset_of(c);
          for (const float* row : rows)
            *to++ = row == nullptr || offset < 0 ? 0.0F : sign * row[offset];
        }
      }
    }
    kernels.pack(block, packed.data() + i * block_size);
  }
  weights_ = kernels::KeepPacked(std::move(packed));
}

PackedConv PackedConv::Transposed(const StoredTensor& weight, const at::Tensor& bias,
                                  int64_t stride, kernels::Precision precision) {
  const int64_t outputs = weight.size(1);
  const int64_t kernel = weight.size(2);
  const int64_t width = PadChannels(outputs);
  PackedConv conv;
  conv.taps_ = (kernel + stride - 1) / stride;
  conv.in_channels_ = weight.size(0);
  conv.out_channels_ = stride * width;
  conv.bias_ = kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>(conv.out_channels_));
  for (int64_t phase = 0; phase < stride; ++phase)
    std::copy_n(bias.const_data_ptr<float>(), outputs, conv.bias_.data() + phase * width);
  const LazyValues values(weight);
  const auto row_of = [&](int64_t place, int64_t tap) -> const float* {
    const int64_t o = place % width;
    // Tap 0 reads the oldest row.
    const int64_t k = place / width + (conv.taps_ - 1 - tap) * stride;
    if (o >= outputs || k >= kernel) return nullptr;
    return values.data() + o * kernel + k;
  };
  const auto offset_of = [step = outputs * kernel](int64_t c) { return c * step; };
  if (precision == kernels::Precision::kInt8) {
    conv.PackNarrow(row_of, offset_of, 1.0F, /*scales_by_row=*/true);
  } else {
    conv.Pack(row_of, offset_of, 1.0F);
  }
  return conv;
}

int64_t PackedConv::cut_step() const {
  if (narrow_ != nullptr)
    return narrow_->taps() > 1 ? kernels::PackedNarrow::kRowsOfScale : int64_t{1};
  const kernels::ConvTask task = Task();
  if (!kernels::GetConvKernels().filters(task)) return 1;
  return kernels::kWinogradOutputs * dilation_;
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
  task.narrow = narrow_.get();
  return task;
}

}  // namespace millrace::speech
