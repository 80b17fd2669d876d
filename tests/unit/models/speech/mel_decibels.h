#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/hann_window.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stft.h>
#include <ATen/ops/view_as_real.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace millrace::speech {

// Half precision may change the mel spectrum by so many decibels, which is far below what is heard.
inline constexpr double kMeanDecibels = 0.05;
inline constexpr double kMaxDecibels = 1.5;

inline double ToMel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
inline double ToHertz(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

// Returns the powers of 80 mel bands in decibels, not below -80: [bands, time].
inline at::Tensor MelDecibels(const at::Tensor& samples, int sample_rate) {
  constexpr int64_t kFft = 1024;
  constexpr int64_t kBands = 80;
  const at::Tensor spectrum =
      at::view_as_real(at::stft(samples, kFft, /*hop_length=*/256, kFft, at::hann_window(kFft),
                                /*normalized=*/false, /*onesided=*/true, /*return_complex=*/true))
          .square()
          .sum(-1);
  const at::Tensor bands = at::zeros({kBands, kFft / 2 + 1});
  const double step = ToMel(sample_rate / 2.0) / (kBands + 1);
  for (int64_t band = 0; band < kBands; ++band) {
    const double low = ToHertz(step * static_cast<double>(band));
    const double middle = ToHertz(step * static_cast<double>(band + 1));
    const double high = ToHertz(step * static_cast<double>(band + 2));
    float* const row = bands.mutable_data_ptr<float>() + band * bands.size(1);
    for (int64_t bin = 0; bin <= kFft / 2; ++bin) {
      const double hertz = sample_rate * static_cast<double>(bin) / kFft;
      const double height =
          std::min((hertz - low) / (middle - low), (high - hertz) / (high - middle));
      row[bin] = static_cast<float>(std::max(height, 0.0));
    }
  }
  return 10 * at::matmul(bands, spectrum).clamp_min(1e-8).log10();
}

}  // namespace millrace::speech
