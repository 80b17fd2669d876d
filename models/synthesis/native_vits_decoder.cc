#include "models/synthesis/native_vits_decoder.h"

#include <utility>

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

NativeVitsDecoder::NativeVitsDecoder(VitsWeights& weights, int64_t latent)
    : NativeVitsDecoder(weights, latent, weights.TakeIfAny("emb_g.weight", {-1, -1})) {}

NativeVitsDecoder::NativeVitsDecoder(VitsWeights& weights, int64_t latent,
                                     const at::Tensor& speakers)
    : flow_(weights, latent, speakers),
      generator_(weights, LatentPlaces(latent, flow_.half_width()), 2 * flow_.half_width(),
                 speakers) {}

std::optional<std::vector<float>> NativeVitsDecoder::Decode(
    const Input& input, const std::function<bool()>& should_stop, runtime::WorkerContext&) const {
  const int64_t frames = input.TotalFrames();
  const int64_t half_width = flow_.half_width();
  AlignedFloats rows(static_cast<size_t>(frames * 2 * half_width));
  input.DrawLatents(half_width, 2 * half_width, rows.data());
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
