// The CUDA implementation of the operators of models/kokoro/fused_lstm.cc, in the CUDA module.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <cuda.h>
#include <torch/library.h>

#include <cstdint>
#include <string>

#include "models/kokoro/cuda/lstm_kernels_source.h"
#include "mps_runtime/backend/cuda/cuda_kernels.h"

namespace millrace::kokoro {
namespace {

// These are constants of the kernels, too.
constexpr int64_t kHidden = 256;
constexpr int kClusterBlocks = 8;
constexpr int kThreads = 256;
constexpr int64_t kSentences = 4;  // a cluster runs so many at once

class LstmKernels : public runtime::CudaKernels {
 public:
  // Compiled at the first call.
  static const LstmKernels& Get() {
    static const LstmKernels& kernels = *new LstmKernels;
    return kernels;
  }

  CUfunction one = Find("Lstm1");
  CUfunction several = Find("Lstm4");

 private:
  LstmKernels() : CudaKernels(kLstmKernelsSource, "lstm_kernels.cu", /*capability=*/90) {}
};

std::string WhyNoLstm(const at::Tensor& recurrent) {
  if (recurrent.size(1) != kHidden)
    return "an LSTM has " + std::to_string(recurrent.size(1)) + " values of state";
  return LstmKernels::Get().why_not();
}

at::Tensor RunLstm(const at::Tensor& gates, double scale, const at::Tensor& bias,
                   const at::Tensor& weights, const at::Tensor& counts) {
  const int64_t batch = gates.size(0), time = gates.size(1);
  const at::Tensor out = at::empty({batch, time, 2 * kHidden}, gates.options());
  const LstmKernels& kernels = LstmKernels::Get();
  const int64_t together = batch == 1 ? 1 : kSentences;
  kernels.Launch(batch == 1 ? kernels.one : kernels.several,
                 dim3(kClusterBlocks * runtime::Parts(batch, together), 2), dim3(kThreads), 0,
                 gates.const_data_ptr(), static_cast<float>(scale), bias.const_data_ptr(),
                 weights.const_data_ptr(), counts.const_data_ptr(), out.mutable_data_ptr(),
                 static_cast<int>(batch), static_cast<int>(time));
  return out;
}

TORCH_LIBRARY_FRAGMENT(millrace_kokoro, library) {
  library.def("why_no_lstm(Tensor recurrent) -> str");
  library.def(
      "lstm(Tensor gates, float scale, Tensor bias, Tensor weights, Tensor counts) -> Tensor");
}

TORCH_LIBRARY_IMPL(millrace_kokoro, CUDA, library) {
  library.impl("why_no_lstm", WhyNoLstm);
  library.impl("lstm", RunLstm);
}

}  // namespace
}  // namespace millrace::kokoro
