#include "models/synthesis/native_conv.h"

#include <ATen/ops/empty.h>

#include "models/synthesis/aligned_floats.h"
#include "models/synthesis/channel_rows.h"

namespace millrace::models {

NativeConv::NativeConv(const at::Tensor& weight, const at::Tensor& bias, bool exact)
    : out_(weight.size(0)), conv_(weight, bias, /*dilation=*/1, {.exact = exact}) {}

at::Tensor NativeConv::Run(const at::Tensor& x) const {
  const at::Tensor input = x.contiguous();
  const int64_t time = input.size(2);
  const int64_t in = conv_.in_channels();
  const int64_t out = conv_.out_channels();
  const int64_t reach = conv_.taps() - 1;
  AlignedFloats padded(static_cast<size_t>((time + reach) * in));
  AlignedFloats rows(static_cast<size_t>(time * out));
  ConvTask task = conv_.Task();
  task.input = padded.data();
  task.rows = time;
  task.input_pitch = in;
  task.output_pitch = out;
  task.raw = rows.data();
  at::Tensor output = at::empty({input.size(0), out_, time}, input.options());
  for (int64_t i = 0; i < input.size(0); ++i) {
    ToRows(input.const_data_ptr<float>() + i * in * time, in, time, in,
           padded.data() + reach / 2 * in);
    GetConvKernels().convolve(task);
    FromRows(rows.data(), out_, time, out, output.mutable_data_ptr<float>() + i * out_ * time);
  }
  return output;
}

}  // namespace millrace::models
