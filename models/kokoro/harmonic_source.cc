#include "models/kokoro/harmonic_source.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/atan2.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/hypot.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/reflection_pad1d.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/scatter.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/upsample_linear1d.h>

#include <array>
#include <numbers>
#include <optional>

#include "models/kokoro/fourier.h"

namespace millrace::kokoro {
namespace {

constexpr double kSineAmplitude = 0.1;
constexpr double kVoicedNoise = 0.003;
constexpr double kUnvoicedNoise = kSineAmplitude / 3;
constexpr double kLowestPitch = 10;  // hertz; below it the voice is unvoiced

}  // namespace

HarmonicSource::HarmonicSource(KokoroWeights& weights, int sample_rate)
    : samples_per_pitch_(weights.shape().samples_per_pitch()),
      hop_(weights.shape().fft_hop),
      sample_rate_(sample_rate),
      mix_(KokoroLinear::Take(weights, "decoder.generator.m_source.l_linear", 1, -1)) {
  const FourierBasis basis = MakeAnalysis(weights.shape().fft_size);
  cosines_ = basis.cosines.to(weights.device());
  sines_basis_ = basis.sines.to(weights.device());
  if (!mix_.weight.defined()) return;
  harmonics_ = at::arange(1, sines() + 1, mix_.weight.options()).view({1, -1, 1});
}

// Returns [batch, sines, samples].
at::Tensor HarmonicSource::Waves(const at::Tensor& pitch, const KokoroExtent& extent) const {
  // The cycles of each sine in a sample. The reference also draws an initial phase for each sine,
  // but that changes only the first sample, which no frame reads. Beyond the end the sines stand
  // still, as the interpolation does there without padding.
  const at::Tensor turns =
      extent.Cut(at::remainder(pitch.unsqueeze(1) * harmonics_ / sample_rate_, 1.0));
  const at::Tensor phase =
      at::cumsum(turns, 2) * (2 * std::numbers::pi) * static_cast<double>(samples_per_pitch_);
  const std::array<int64_t, 1> samples = {pitch.size(1) * samples_per_pitch_};
  const std::optional<double> scale = static_cast<double>(samples_per_pitch_);
  return at::upsample_linear1d(phase, samples, /*align_corners=*/false, scale)
      .sin_()
      .mul_(kSineAmplitude);
}

// Returns [batch, 1, samples]: 1 where the voice is voiced, else 0.
at::Tensor HarmonicSource::Voiced(const at::Tensor& pitch) const {
  return Stretch((pitch > kLowestPitch).to(pitch.scalar_type()), samples_per_pitch_).unsqueeze(1);
}

// Returns [batch, 1, samples]. Sines and noise are mixed down before they are added: that is the
// same sum over a ninth of the memory.
at::Tensor HarmonicSource::Sound(const at::Tensor& pitch, const at::Tensor& noise,
                                 const KokoroExtent& extent) const {
  const at::Tensor tone = at::matmul(mix_.weight, Waves(pitch, extent));
  const at::Tensor breath = at::matmul(noise, mix_.weight.t()).transpose(1, 2);
  const at::Tensor voiced = Voiced(pitch);
  const at::Tensor loudness = voiced * (kVoicedNoise - kUnvoicedNoise) + kUnvoicedNoise;
  return at::tanh(tone * voiced + loudness * breath + mix_.bias);
}

// Transforms a sound that is extended by half a window at both ends.
at::Tensor HarmonicSource::Transform(const at::Tensor& sound) const {
  const at::Tensor real = at::conv1d(sound, cosines_, {}, hop_);
  // It may be -0 for the real bins, which would turn a phase of pi into -pi.
  const at::Tensor imaginary = at::conv1d(sound, sines_basis_, {}, hop_) + 0.0;
  return at::cat({at::hypot(real, imaginary), at::atan2(imaginary, real)}, 1);
}

at::Tensor HarmonicSource::Run(const at::Tensor& pitch, const at::Tensor& noise) const {
  const int64_t half = cosines_.size(2) / 2;
  return Transform(at::reflection_pad1d(Sound(pitch, noise, {}), {half, half}));
}

at::Tensor HarmonicSource::RunPadded(const at::Tensor& pitch, const at::Tensor& noise,
                                     const KokoroExtent& extent, const KokoroExtent& after) const {
  const int64_t half = cosines_.size(2) / 2;
  const at::Tensor sound =
      at::constant_pad_nd(at::reflection_pad1d(Sound(pitch, noise, extent), {half, 0}), {0, half});
  // Reflects each sentence at its own end.
  const at::Tensor end = (extent.counts * samples_per_pitch_).to(at::kLong) + half;
  const at::Tensor distance = at::arange(half, end.options());
  const at::Tensor mirrored = at::gather(sound, 2, end - 2 - distance);
  return after.Cut(Transform(at::scatter(sound, 2, end + distance, mirrored)));
}

}  // namespace millrace::kokoro
