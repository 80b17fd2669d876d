#include "models/speech/cpu_conv.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>

#include "models/kernels/aligned_buffer.h"
#include "models/kernels/channel_rows.h"
#include "models/kernels/parallel_conv.h"

namespace millrace::speech {

CpuConv::CpuConv(const StoredTensor& weight, const at::Tensor& bias, const PackedConv::Order& kind)
    : out_(weight.size(0)),
      conv_(weight, bias, /*dilation=*/1,
            {.exact = kind.exact,
             .winograd = kind.winograd,
             .precision = kind.precision,
             .scales_by_row = true}) {}

at::Tensor CpuConv::Run(const at::Tensor& x) const {
  const at::Tensor input = x.contiguous();
  const int64_t time = input.size(2);
  const int64_t in = conv_.in_channels();
  const int64_t out = conv_.out_channels();
  const int64_t reach = conv_.taps() - 1;
  const int64_t width = PadChannels(in);
  // In int8 the rows that the taps read follow one another.
  const int64_t pitch = conv_.in_int8() ? width : kernels::RowPitch(width);
  auto padded = kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>((time + reach) * pitch));
  auto rows = kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>(time * out));
  kernels::ConvTask task = conv_.Task();
  task.input = padded.data();
  task.rows = time;
  task.input_pitch = pitch;
  task.output_pitch = out;
  task.raw = rows.data();
  at::Tensor output = at::empty({input.size(0), out_, time}, input.options());
  for (int64_t i = 0; i < input.size(0); ++i) {
    kernels::ToRows(input.const_data_ptr<float>() + i * in * time, {in, time}, pitch,
                    padded.data() + reach / 2 * pitch);
    kernels::ParallelConvolve(task);
    kernels::FromRows(rows.data(), {out_, time}, out,
                      output.mutable_data_ptr<float>() + i * out_ * time);
  }
  return output;
}

at::Tensor CpuConv::RunRows(const at::Tensor& x) const {
  const int64_t reach = conv_.taps() - 1;
  at::Tensor input = x.contiguous();
  if (reach > 0) input = at::constant_pad_nd(input, {0, 0, reach / 2, reach - reach / 2});
  const at::Tensor output = at::empty({x.size(0), conv_.out_channels()}, x.options());
  kernels::ConvTask task = conv_.Task();
  task.input = input.const_data_ptr<float>();
  task.rows = x.size(0);
  task.input_pitch = conv_.in_channels();
  task.output_pitch = conv_.out_channels();
  task.raw = output.mutable_data_ptr<float>();
  kernels::ParallelConvolve(task);
  return output.narrow(1, 0, out_);
}

}  // namespace millrace::speech
