// The CUDA implementation of the operator of models/speech/device_noise.cc, in the CUDA module.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <cuda.h>
#include <torch/library.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "models/speech/cuda/noise_kernels_source.h"
#include "mps_runtime/backend/cuda/cuda_kernels.h"

namespace millrace::speech {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kWarp = 32;

class NoiseKernels : public runtime::CudaKernels {
 public:
  // Compiled at the first call.
  static const NoiseKernels& Get() {
    static const NoiseKernels& kernels = *new NoiseKernels;
    return kernels;
  }

  CUfunction draw_noise = Find("DrawNoise");

 private:
  NoiseKernels() : CudaKernels(kNoiseKernelsSource, "noise_kernels.cu", /*capability=*/50) {}
};

at::Tensor DrawNoise(const at::Tensor& keys, const std::optional<at::Tensor>& rows, int64_t count) {
  const NoiseKernels& kernels = NoiseKernels::Get();
  TORCH_CHECK(kernels.why_not().empty(), kernels.why_not());
  const at::Tensor given = keys.contiguous();
  const at::Tensor given_rows = rows ? rows->contiguous() : at::Tensor();
  const at::Tensor noise = at::empty({keys.size(0), count}, keys.options().dtype(at::kFloat));
  const void* const of_rows = rows ? given_rows.const_data_ptr() : nullptr;
  const unsigned threads = std::min(kThreads, kWarp * runtime::Parts(count, 4 * kWarp));
  kernels.Launch(kernels.draw_noise,
                 dim3(static_cast<unsigned>(keys.size(0)), runtime::Parts(count, 4 * threads)),
                 dim3(threads), 0, given.const_data_ptr(), of_rows, noise.mutable_data_ptr(),
                 count);
  return noise;
}

TORCH_LIBRARY_FRAGMENT(millrace_speech, library) {
  library.def("draw_noise(Tensor keys, Tensor? rows, int count) -> Tensor");
}

TORCH_LIBRARY_IMPL(millrace_speech, CUDA, library) { library.impl("draw_noise", DrawNoise); }

}  // namespace
}  // namespace millrace::speech
