#include "models/kernels/conv_kernels.h"

#include "models/kernels/dispatch.h"

namespace millrace::kernels {

bool HasWinogradForm(const ConvTask& task) {
  return task.winograd && (task.taps == 3 || task.taps == 5 || task.taps == 7 || task.taps == 11);
}

std::span<const ConvKernels* const> SupportedConvKernels() {
  static const auto* const supported = new std::vector<const ConvKernels*>(Runnable({
#if defined(__x86_64__)
    &kConvKernelsAmx, &kConvKernelsAvx512, &kConvKernelsAvx2,
#elif defined(__aarch64__)
    &kConvKernelsNeon,
#endif
        &kConvKernelsPortable,
  }));
  return *supported;
}

const ConvKernels& GetConvKernels() {
  static const ConvKernels& best = *SupportedConvKernels().front();
  return best;
}

}  // namespace millrace::kernels
