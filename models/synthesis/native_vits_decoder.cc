#include "models/synthesis/native_vits_decoder.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "models/synthesis/aten_vits_decoder.h"

namespace millrace::models {
namespace {

// Where channel c of the latents lies in a row of two padded halves.
std::vector<int64_t> LatentPlaces(int64_t latent, int64_t half_width) {
  std::vector<int64_t> places;
  const int64_t half = latent / 2;
  for (int64_t c = 0; c < latent; ++c) places.push_back(c < half ? c : half_width + c - half);
  return places;
}

}  // namespace

std::unique_ptr<VitsDecoder> MakeVitsDecoder(VitsWeights& weights, int64_t latent,
                                             at::Device device) {
  if (device.is_cpu()) return std::make_unique<NativeVitsDecoder>(weights, latent);
  return std::make_unique<AtenVitsDecoder>(weights, latent, device);
}

NativeVitsDecoder::NativeVitsDecoder(VitsWeights& weights, int64_t latent)
    : NativeVitsDecoder(weights, latent, weights.TakeIfAny("emb_g.weight", {-1, -1})) {}

NativeVitsDecoder::NativeVitsDecoder(VitsWeights& weights, int64_t latent,
                                     const at::Tensor& speakers)
    : latent_(latent),
      flow_(weights, latent, speakers),
      generator_(weights, LatentPlaces(latent, flow_.half_width()), 2 * flow_.half_width(),
                 speakers) {}

AlignedFloats NativeVitsDecoder::DrawLatents(const Input& input, int64_t frames) const {
  const int64_t half = latent_ / 2;
  const int64_t half_width = flow_.half_width();
  const at::Tensor statistics =
      input.statistics[0].transpose(0, 1).contiguous();  // [phonemes][2 * latent]
  const float* means = statistics.const_data_ptr<float>();
  const float* noise = input.noise.data();
  AlignedFloats rows(static_cast<size_t>(frames * 2 * half_width));
  float* row = rows.data();
  std::vector<float> deviations(static_cast<size_t>(latent_));
  for (int64_t repeats : input.frames) {
    for (int64_t c = 0; c < latent_; ++c) {
      deviations[static_cast<size_t>(c)] = std::exp(means[latent_ + c]) * input.noise_scale;
    }
    for (int64_t i = 0; i < repeats; ++i, row += 2 * half_width, noise += latent_) {
      for (int64_t c = 0; c < latent_; ++c) {
        row[c < half ? c : half_width + c - half] =
            means[c] + noise[c] * deviations[static_cast<size_t>(c)];
      }
    }
    means += 2 * latent_;
  }
  return rows;
}

std::optional<std::vector<float>> NativeVitsDecoder::Decode(
    const Input& input, const std::function<bool()>& should_stop) const {
  const int64_t frames = std::accumulate(input.frames.begin(), input.frames.end(), int64_t{0});
  AlignedFloats rows = DrawLatents(input, frames);
  flow_.Run(rows.data(), frames, input.speaker);
  std::vector<float> samples(static_cast<size_t>(frames * generator_.hop()));
  std::unique_ptr<NativeGenerator::Scratch> scratch = TakeScratch();
  const bool finished =
      generator_.Run(rows.data(), frames, input.speaker, *scratch, samples.data(), should_stop);
  ReturnScratch(std::move(scratch));
  if (!finished) return std::nullopt;
  return samples;
}

std::unique_ptr<NativeGenerator::Scratch> NativeVitsDecoder::TakeScratch() const {
  MutexLock lock(mu_);
  if (scratch_.empty()) return std::make_unique<NativeGenerator::Scratch>();
  std::unique_ptr<NativeGenerator::Scratch> scratch = std::move(scratch_.back());
  scratch_.pop_back();
  return scratch;
}

void NativeVitsDecoder::ReturnScratch(std::unique_ptr<NativeGenerator::Scratch> scratch) const {
  MutexLock lock(mu_);
  scratch_.push_back(std::move(scratch));
}

}  // namespace millrace::models
