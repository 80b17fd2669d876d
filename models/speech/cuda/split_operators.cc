// The CUDA implementation of the operators of models/speech/split_product.cc, in the CUDA module.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <cuda.h>
#include <torch/library.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "models/speech/cuda/split_kernels_source.h"
#include "mps_runtime/backend/cuda/cuda_kernels.h"

namespace millrace::speech {
namespace {

// These are constants of the kernels, too.
constexpr int kThreads = 256;
constexpr int64_t kMostPairs = 4;

class SplitKernels : public runtime::CudaKernels {
 public:
  // Compiled at the first call.
  static const SplitKernels& Get() {
    static const SplitKernels& kernels = *new SplitKernels;
    return kernels;
  }

  CUfunction split_rows = Find("SplitRows");
  CUfunction gelu_split = Find("GeluSplit");
  CUfunction add_norm_split = Find("AddNormSplit");
  CUfunction unfold_split = Find("UnfoldSplit");
  CUfunction finish_product = Find("FinishProduct");

  void LaunchRows(CUfunction kernel, int64_t rows, const auto&... arguments) const {
    Launch(kernel, dim3(static_cast<unsigned>(rows)), dim3(kThreads), 0, arguments...);
  }

 private:
  SplitKernels() : CudaKernels(kSplitKernelsSource, "split_kernels.cu", /*capability=*/80) {}
};

int ToInt(int64_t value) { return static_cast<int>(value); }

const void* DataOf(const std::optional<at::Tensor>& tensor) {
  return tensor ? tensor->const_data_ptr() : nullptr;
}

at::Tensor EmptySplit(int64_t rows, int64_t width, const at::Tensor& like) {
  return at::empty({rows, 3 * width}, like.options().dtype(at::kHalf));
}

std::string WhyNoSplit(const at::Tensor& /*tensor*/) { return SplitKernels::Get().why_not(); }

at::Tensor Split(const at::Tensor& x) {
  const at::Tensor given = x.contiguous();
  const int64_t width = x.size(-1), rows = x.numel() / width;
  const at::Tensor split = EmptySplit(rows, width, x);
  const SplitKernels& kernels = SplitKernels::Get();
  kernels.LaunchRows(kernels.split_rows, rows, given.const_data_ptr(), split.mutable_data_ptr(),
                     ToInt(width / 2));
  return split;
}

at::Tensor FinishProduct(const at::Tensor& product, double scale, const at::Tensor& bias,
                         const std::optional<at::Tensor>& kept, int64_t repeat, double factor) {
  const at::Tensor result = at::empty_like(product);
  const SplitKernels& kernels = SplitKernels::Get();
  kernels.LaunchRows(kernels.finish_product, product.size(0), product.const_data_ptr(),
                     static_cast<float>(scale), bias.const_data_ptr(), DataOf(kept), ToInt(repeat),
                     static_cast<float>(factor), result.mutable_data_ptr(),
                     ToInt(product.size(1) / 2));
  return result;
}

std::tuple<at::Tensor, at::Tensor> AddNormSplit(const at::Tensor& product, double scale,
                                                const at::Tensor& bias, const at::Tensor& residual,
                                                const at::Tensor& weight, const at::Tensor& shift,
                                                double epsilon) {
  const int64_t rows = product.size(0), width = product.size(1);
  TORCH_CHECK(width <= 2 * kMostPairs * kThreads, "a layer norm of ", width, " values");
  const at::Tensor x = at::empty_like(product);
  const at::Tensor split = EmptySplit(rows, width, product);
  const SplitKernels& kernels = SplitKernels::Get();
  kernels.LaunchRows(kernels.add_norm_split, rows, product.const_data_ptr(),
                     static_cast<float>(scale), bias.const_data_ptr(), residual.const_data_ptr(),
                     weight.const_data_ptr(), shift.const_data_ptr(), static_cast<float>(epsilon),
                     x.mutable_data_ptr(), split.mutable_data_ptr(), ToInt(width / 2));
  return {x, split};
}

at::Tensor GeluSplit(const at::Tensor& product, double scale, const at::Tensor& bias) {
  const at::Tensor split = EmptySplit(product.size(0), product.size(1), product);
  const SplitKernels& kernels = SplitKernels::Get();
  kernels.LaunchRows(kernels.gelu_split, product.size(0), product.const_data_ptr(),
                     static_cast<float>(scale), bias.const_data_ptr(), split.mutable_data_ptr(),
                     ToInt(product.size(1) / 2));
  return split;
}

at::Tensor UnfoldSplit(const at::Tensor& x, const std::optional<at::Tensor>& counts,
                       const std::optional<at::Tensor>& norm, double slope, int64_t taps) {
  const int64_t batch = x.size(0), time = x.size(1), channels = x.size(2);
  const at::Tensor split = EmptySplit(batch * time, taps * channels, x);
  const SplitKernels& kernels = SplitKernels::Get();
  kernels.Launch(kernels.unfold_split,
                 dim3(static_cast<unsigned>(time), static_cast<unsigned>(batch)), dim3(kThreads), 0,
                 x.const_data_ptr(), DataOf(norm), static_cast<float>(slope), DataOf(counts),
                 split.mutable_data_ptr(), ToInt(channels / 2), ToInt(taps));
  return split;
}

TORCH_LIBRARY_FRAGMENT(millrace_speech, library) {
  library.def("why_no_split(Tensor tensor) -> str");
  library.def("split(Tensor x) -> Tensor");
  library.def(
      "finish_product(Tensor product, float scale, Tensor bias, Tensor? kept, int repeat, "
      "float factor) -> Tensor");
  library.def(
      "add_norm_split(Tensor product, float scale, Tensor bias, Tensor residual, Tensor weight, "
      "Tensor shift, float epsilon) -> (Tensor, Tensor)");
  library.def("gelu_split(Tensor product, float scale, Tensor bias) -> Tensor");
  library.def(
      "unfold_split(Tensor x, Tensor? counts, Tensor? norm, float slope, int taps) -> Tensor");
}

TORCH_LIBRARY_IMPL(millrace_speech, CUDA, library) {
  library.impl("why_no_split", WhyNoSplit);
  library.impl("split", Split);
  library.impl("finish_product", FinishProduct);
  library.impl("add_norm_split", AddNormSplit);
  library.impl("gelu_split", GeluSplit);
  library.impl("unfold_split", UnfoldSplit);
}

}  // namespace
}  // namespace millrace::speech
