#include "models/speech/cpu_upsampling.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "models/kernels/channel_rows.h"
#include "models/kernels/parallel_conv.h"

namespace millrace::speech {

CpuUpsampling::CpuUpsampling(const StoredTensor& weight, const at::Tensor& bias, int64_t stride,
                             kernels::Precision precision)
    : stride_(stride),
      crop_((weight.size(2) - stride) / 2),
      out_(weight.size(1)),
      conv_(PackedConv::Transposed(weight, bias, stride, precision)) {}

at::Tensor CpuUpsampling::Run(const at::Tensor& x) const {
  const at::Tensor input = x.contiguous();
  const int64_t in = conv_.in_channels();
  const int64_t time = input.size(2);
  const int64_t longer = time * stride_;
  at::Tensor output = at::empty({input.size(0), out_, longer}, input.options());
  const at::Tensor rows = at::zeros({time, PadChannels(in)}, input.options());
  for (int64_t i = 0; i < input.size(0); ++i) {
    kernels::ToRows(input.const_data_ptr<float>() + i * in * time, {in, time}, rows.size(1),
                    rows.mutable_data_ptr<float>());
    const at::Tensor upsampled = RunRows(rows, /*reflected=*/false);
    kernels::FromRows(upsampled.const_data_ptr<float>(), {out_, longer}, upsampled.size(1),
                      output.mutable_data_ptr<float>() + i * out_ * longer);
  }
  return output;
}

at::Tensor CpuUpsampling::RunRows(const at::Tensor& x, bool reflected) const {
  const int64_t reach = conv_.taps() - 1;
  const int64_t width = PadChannels(out_);
  const at::Tensor padded = at::constant_pad_nd(x, {0, 0, reach, reach});
  kernels::ConvTask task = conv_.Task();
  task.input = padded.const_data_ptr<float>();
  task.rows = x.size(0) + reach;
  task.input_pitch = x.size(1);
  task.output_pitch = stride_ * width;
  // A row in front is for the reflected one.
  const at::Tensor rows = at::empty({1 + task.rows * stride_, width}, x.options());
  task.raw = rows.mutable_data_ptr<float>() + width;
  kernels::ParallelConvolve(task);
  const int64_t more = reflected ? 1 : 0;
  at::Tensor result = rows.narrow(0, 1 + crop_ - more, x.size(0) * stride_ + more);
  if (reflected) result[0].copy_(result[2]);
  return result;
}

}  // namespace millrace::speech
