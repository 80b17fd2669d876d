#include "models/speech/cpu_upsampling.h"

#include <ATen/ops/empty.h>

#include "models/kernels/aligned_buffer.h"
#include "models/kernels/channel_rows.h"
#include "models/kernels/parallel_conv.h"

namespace millrace::speech {

CpuUpsampling::CpuUpsampling(const at::Tensor& weight, const at::Tensor& bias, int64_t stride,
                             kernels::Precision precision)
    : stride_(stride),
      crop_((weight.size(2) - stride) / 2),
      out_(weight.size(1)),
      conv_(PackedConv::Transposed(weight, bias, stride, precision)) {}

at::Tensor CpuUpsampling::Run(const at::Tensor& x) const {
  const at::Tensor input = x.contiguous();
  const int64_t in = conv_.in_channels();
  const int64_t time = input.size(2);
  const int64_t reach = conv_.taps() - 1;
  const int64_t width = PadChannels(out_);
  const int64_t pitch = PadChannels(in);
  auto padded =
      kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>((time + 2 * reach) * pitch));
  kernels::ConvTask task = conv_.Task();
  task.input = padded.data();
  task.rows = time + reach;
  task.input_pitch = pitch;
  task.output_pitch = stride_ * width;
  auto rows = kernels::AlignedBuffer<float>(static_cast<size_t>(task.rows * task.output_pitch));
  task.raw = rows.data();
  const int64_t longer = time * stride_;
  at::Tensor output = at::empty({input.size(0), out_, longer}, input.options());
  for (int64_t i = 0; i < input.size(0); ++i) {
    kernels::ToRows(input.const_data_ptr<float>() + i * in * time,
                    kernels::ChannelSpan::Whole(in, time), pitch, padded.data() + reach * pitch);
    kernels::ParallelConvolve(task);
    kernels::FromRows(rows.data() + crop_ * width, kernels::ChannelSpan::Whole(out_, longer), width,
                      output.mutable_data_ptr<float>() + i * out_ * longer);
  }
  return output;
}

}  // namespace millrace::speech
