// The CUDA implementation of the operators of models/speech/row_operators.h, in the CUDA module.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <cuda.h>
#include <torch/library.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "models/speech/cuda/row_kernels_source.h"
#include "models/speech/cuda/row_product.h"

namespace millrace::speech {
namespace {

using runtime::Parts;
using Product = RowKernels::Product;

constexpr int kTransposed = RowKernels::kTransposed;
constexpr int kTransposedRows = RowKernels::kTransposedRows;
constexpr int kSamples = 256;  // threads of a block that computes samples or gates

// The compiled kernels.
class SharedRowKernels : public RowKernels {
 public:
  // Compiled at the first call.
  static const SharedRowKernels& Get() {
    static const SharedRowKernels& kernels = *new SharedRowKernels;
    return kernels;
  }

  CUfunction rows_of_channels = Find("RowsOfChannels");
  CUfunction channels_of_rows = Find("ChannelsOfRows");
  CUfunction samples_of_rows = Find("SamplesOfRows");
  CUfunction gate_rows = Find("GateRows");
  Tiled upsample = FindTiled("Upsample");
  Tiled masked_upsample = FindTiled("MaskedUpsample");
  Tiled splitting_upsample = FindTiled("SplittingUpsample");
  Tiled split_upsample = FindTiled("SplitUpsample");
  Tiled masked_convolution = FindTiled("MaskedConvolution");
  Tiled split_convolution = FindTiled("SplitConvolution");

 private:
  SharedRowKernels() : RowKernels(kRowKernelsSource, "row_kernels.cu") {}
};

// The arguments of the kernels, as they declare them.
struct UpsampledRows {
  int stride, cut, reflected;
};
struct RowMask {
  const void* mask;
  int times, rows;
};
struct MaskedUpsampledRows {
  UpsampledRows rows;
  RowMask mask;
};

RowMask MaskOf(const at::Tensor& mask, int64_t rows) {
  return {mask.const_data_ptr(), ToInt(rows / mask.numel()), ToInt(rows)};
}

RowKernels::LeakyActivation Activation(double factor, double slope) {
  return {static_cast<float>(factor), static_cast<float>(slope)};
}

std::string WhyNot(const at::Tensor& weight, int64_t dilation) {
  const SharedRowKernels& kernels = SharedRowKernels::Get();
  if (!kernels.why_not().empty()) return kernels.why_not();
  if ((weight.size(1) - 1) * dilation > kernels.max_reach())
    return "the taps of a convolution are too far apart for the device's shared memory";
  return {};
}

std::tuple<at::Tensor, at::Tensor> RowsOfChannels(const at::Tensor& signal,
                                                  const at::Tensor& counts) {
  const at::Tensor x = signal.contiguous();
  const int64_t batch = x.size(0), channels = x.size(1), time = x.size(2);
  const unsigned tiles = Parts(time, kTransposedRows);
  const at::Tensor rows = at::empty({batch, time, channels}, x.options().dtype(at::kHalf));
  const at::Tensor moments = at::empty({batch, tiles, 2, channels}, x.options());
  const SharedRowKernels& kernels = SharedRowKernels::Get();
  kernels.Launch(kernels.rows_of_channels,
                 dim3(tiles, Parts(channels, kTransposed), Parts(batch, 1)), dim3(32, 8), 0,
                 x.const_data_ptr(), counts.const_data_ptr(), rows.mutable_data_ptr(),
                 moments.mutable_data_ptr(), ToInt(time), ToInt(channels));
  return {rows, moments};
}

std::tuple<at::Tensor, at::Tensor> Upsample(const at::Tensor& rows, const at::Tensor& counts,
                                            const at::Tensor& weight, const at::Tensor& bias,
                                            double factor, double slope, int64_t stride,
                                            bool reflected, const at::Tensor& added) {
  const SharedRowKernels& kernels = SharedRowKernels::Get();
  const int64_t batch = rows.size(0), columns = weight.size(2), channels = added.size(2);
  const int64_t products = rows.size(1) + 1;
  const int tile = kernels.TileOf(batch, products, columns, channels);
  const unsigned tiles = Parts(products, tile);
  const at::Tensor result = at::empty_like(added);
  const at::Tensor moments = at::empty({batch, tiles * stride, 2, channels}, counts.options());
  const Product product{.x = rows.const_data_ptr(),
                        .weights = weight.const_data_ptr(),
                        .bias = bias.const_data_ptr(),
                        .counts = counts.const_data_ptr(),
                        .added = {added.const_data_ptr(), nullptr},
                        .out = result.mutable_data_ptr(),
                        .moments = moments.mutable_data_ptr(),
                        .in_time = ToInt(rows.size(1)),
                        .in_channels = ToInt(rows.size(2)),
                        .time = ToInt(added.size(1)),
                        .channels = ToInt(channels),
                        .taps = 2,
                        .dilation = 1};
  const UpsampledRows map{ToInt(stride), ToInt(stride / 2), reflected ? 1 : 0};
  kernels.LaunchTiles(kernels.upsample, tile, dim3(tiles, Parts(columns, tile), Parts(batch, 1)),
                      /*reach=*/1, product, Activation(factor, slope), map);
  return {result, moments};
}

at::Tensor MaskedUpsample(const at::Tensor& rows, const at::Tensor& weight,
                          const std::optional<at::Tensor>& bias, double factor, double slope,
                          int64_t stride, const at::Tensor& mask, bool split, bool splits) {
  const SharedRowKernels& kernels = SharedRowKernels::Get();
  const RowKernels::Tiled& kernel = split    ? kernels.split_upsample
                                    : splits ? kernels.splitting_upsample
                                             : kernels.masked_upsample;
  const int64_t columns = weight.size(2), channels = columns / stride;
  const int64_t products = rows.size(1) + 1, time = rows.size(1) * stride;
  const int tile = kernels.TileOf(1, products, columns, channels);
  const at::Tensor result = at::empty({1, time, channels}, rows.options());
  const Product product{.x = rows.const_data_ptr(),
                        .weights = weight.const_data_ptr(),
                        .bias = DataOf(bias),
                        .out = result.mutable_data_ptr(),
                        .in_time = ToInt(rows.size(1)),
                        .in_channels = ToInt(rows.size(2)),
                        .time = ToInt(time),
                        .channels = ToInt(channels),
                        .taps = 2,
                        .dilation = 1};
  const MaskedUpsampledRows map{{ToInt(stride), ToInt(stride / 2), 0}, MaskOf(mask, time)};
  kernels.LaunchTiles(kernel, tile, dim3(Parts(products, tile), Parts(columns, tile)),
                      /*reach=*/1, product, Activation(factor, slope), map);
  return result;
}

at::Tensor MaskedConvolve(const at::Tensor& rows, const at::Tensor& weight,
                          const std::optional<at::Tensor>& bias, int64_t dilation, double factor,
                          double slope, at::TensorList added, const at::Tensor& mask, bool split) {
  const SharedRowKernels& kernels = SharedRowKernels::Get();
  const int64_t time = rows.size(1), taps = weight.size(1), channels = weight.size(2);
  const int tile = kernels.TileOf(1, time, channels, channels);
  const at::Tensor result = at::empty({1, time, channels}, rows.options());
  Product product{.x = rows.const_data_ptr(),
                  .weights = weight.const_data_ptr(),
                  .bias = DataOf(bias),
                  .out = result.mutable_data_ptr(),
                  .in_time = ToInt(time),
                  .in_channels = ToInt(rows.size(2)),
                  .time = ToInt(time),
                  .channels = ToInt(channels),
                  .taps = ToInt(taps),
                  .dilation = ToInt(dilation)};
  TORCH_CHECK(added.size() <= product.added.size(), "too many signals to add");
  for (size_t i = 0; i < added.size(); ++i) product.added[i] = added[i].const_data_ptr();
  kernels.LaunchTiles(split ? kernels.split_convolution : kernels.masked_convolution, tile,
                      dim3(Parts(time, tile), Parts(channels, tile)), (taps - 1) * dilation,
                      product, Activation(factor, slope), MaskOf(mask, time));
  return result;
}

at::Tensor GateRows(const at::Tensor& rows) {
  const int64_t time = rows.size(1), channels = rows.size(2) / 4;
  const at::Tensor result = at::empty({1, time, 2 * channels}, rows.options());
  const SharedRowKernels& kernels = SharedRowKernels::Get();
  kernels.Launch(kernels.gate_rows, dim3(Parts(time * channels / 8, kSamples)), dim3(kSamples), 0,
                 rows.const_data_ptr(), result.mutable_data_ptr(), ToInt(time), ToInt(channels));
  return result;
}

at::Tensor ChannelsOfRows(const at::Tensor& rows, const at::Tensor& counts, double factor,
                          double slope) {
  const int64_t batch = rows.size(0), time = rows.size(1), channels = rows.size(2);
  const at::Tensor result = at::empty({batch, channels, time}, counts.options());
  const SharedRowKernels& kernels = SharedRowKernels::Get();
  kernels.Launch(kernels.channels_of_rows,
                 dim3(Parts(time, kTransposed), Parts(channels, kTransposed), Parts(batch, 1)),
                 dim3(32, 8), 0, rows.const_data_ptr(), counts.const_data_ptr(),
                 Activation(factor, slope), result.mutable_data_ptr(), ToInt(time),
                 ToInt(channels));
  return result;
}

at::Tensor SamplesOfRows(const at::Tensor& rows, const at::Tensor& weight,
                         const std::optional<at::Tensor>& bias, double factor, double slope,
                         bool split) {
  const int64_t time = rows.size(1);
  const at::Tensor samples = at::empty({time}, weight.options());
  const SharedRowKernels& kernels = SharedRowKernels::Get();
  kernels.Launch(kernels.samples_of_rows, dim3(Parts(time, kSamples)), dim3(kSamples),
                 weight.numel() * static_cast<int64_t>(sizeof(float)), rows.const_data_ptr(),
                 Activation(factor, slope), weight.const_data_ptr(), DataOf(bias), split ? 1 : 0,
                 samples.mutable_data_ptr(), ToInt(time), ToInt(rows.size(2)),
                 ToInt(weight.size(1)), ToInt(weight.size(0)));
  return samples;
}

TORCH_LIBRARY_FRAGMENT(millrace_speech, library) {
  library.def("why_not_rows(Tensor weight, int dilation) -> str");
  library.def("rows_of_channels(Tensor signal, Tensor counts) -> (Tensor, Tensor)");
  library.def(
      "upsample(Tensor rows, Tensor counts, Tensor weight, Tensor bias, float factor, "
      "float slope, int stride, bool reflected, Tensor added) -> (Tensor, Tensor)");
  library.def(
      "masked_upsample(Tensor rows, Tensor weight, Tensor? bias, float factor, float slope, "
      "int stride, Tensor mask, bool split, bool splits) -> Tensor");
  library.def(
      "masked_convolve(Tensor rows, Tensor weight, Tensor? bias, int dilation, float factor, "
      "float slope, Tensor[] added, Tensor mask, bool split) -> Tensor");
  library.def("gate_rows(Tensor rows) -> Tensor");
  library.def("channels_of_rows(Tensor rows, Tensor counts, float factor, float slope) -> Tensor");
  library.def(
      "samples_of_rows(Tensor rows, Tensor weight, Tensor? bias, float factor, float slope, "
      "bool split) -> Tensor");
}

TORCH_LIBRARY_IMPL(millrace_speech, CUDA, library) {
  library.impl("why_not_rows", WhyNot);
  library.impl("rows_of_channels", RowsOfChannels);
  library.impl("upsample", Upsample);
  library.impl("masked_upsample", MaskedUpsample);
  library.impl("masked_convolve", MaskedConvolve);
  library.impl("gate_rows", GateRows);
  library.impl("channels_of_rows", ChannelsOfRows);
  library.impl("samples_of_rows", SamplesOfRows);
}

}  // namespace
}  // namespace millrace::speech
