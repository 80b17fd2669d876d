#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/hann_window.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/log10.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/pow.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace millrace::speech {

// Returns the log-mel spectrogram of samples at 24 kHz, [frames, 80] in dB, as the
// programs measure_onnxruntime_int8.py compute it. Of a voice at 22.05 kHz the bands lie a little
// lower, in the same way for all sounds that are compared.
inline at::Tensor LogMel(const std::vector<float>& samples) {
  constexpr double kSampleRate = 24000;
  constexpr int64_t kWindow = 1024;
  constexpr int64_t kHop = 256;
  constexpr int64_t kBands = 80;
  constexpr double kFloor = -80;
  const at::Tensor mels =
      at::linspace(0, 2595 * std::log10(1 + kSampleRate / 2 / 700), kBands + 2, at::kDouble);
  const at::Tensor points = 700 * (at::pow(10, mels / 2595) - 1);
  const at::Tensor lower = points.narrow(0, 0, kBands).unsqueeze(1);
  const at::Tensor middle = points.narrow(0, 1, kBands).unsqueeze(1);
  const at::Tensor upper = points.narrow(0, 2, kBands).unsqueeze(1);
  const at::Tensor bins = at::arange(kWindow / 2 + 1, at::kDouble) * (kSampleRate / kWindow);
  const at::Tensor filters =
      at::minimum((bins - lower) / (middle - lower), (upper - bins) / (upper - middle))
          .clamp_min(0);
  const at::Tensor frames = at::from_blob(const_cast<float*>(samples.data()),
                                          {static_cast<int64_t>(samples.size())}, at::kFloat)
                                .to(at::kDouble)
                                .unfold(0, kWindow, kHop);
  const at::Tensor power =
      at::fft_rfft(frames * at::hann_window(kWindow, at::kDouble)).abs().square() /
      std::pow(kWindow / 4, 2);
  return (10 * at::log10(at::matmul(power, filters.t()) + 1e-30)).clamp_min(kFloor);
}

// Returns the mean distance of two sounds of equal length, in dB.
inline double LogMelDistance(const std::vector<float>& a, const std::vector<float>& b) {
  return (LogMel(a) - LogMel(b)).abs().mean().item<double>();
}

}  // namespace millrace::speech
