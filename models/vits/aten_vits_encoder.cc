#include "models/vits/aten_vits_encoder.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ceil.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>

#include <cmath>

#include "models/speech/device_noise.h"
#include "models/vits/vits_encoder.h"

namespace millrace::vits {
namespace {

constexpr double kOutOfSight = 1e9;  // its negative exponential is 0

}  // namespace

AtenVitsEncoder::AtenVitsEncoder(VitsWeights& weights) : weights_(weights) {
  if (!weights.status().ok()) return;
  durations_ =
      VitsDurations<AtenRowConv>(weights, weights_.embedding.size(1), weights_.speaker_channels());
}

AtenVitsEncoder::Band AtenVitsEncoder::MakeBand(int64_t length, int64_t distances,
                                                const at::TensorOptions& options) {
  const int64_t window = distances / 2;
  const at::Tensor places = at::arange(length, options.dtype(at::kLong));
  const at::Tensor distance = places.unsqueeze(0) - places.unsqueeze(1) + window;
  const at::Tensor phoneme =
      places.unsqueeze(1) + at::arange(distances, options.dtype(at::kLong)).unsqueeze(0) - window;
  const auto within = [](const at::Tensor& index, int64_t end) {
    return (index >= 0).logical_and_(index < end).to(at::kFloat).unsqueeze(0).unsqueeze(0);
  };
  return {.distances = distances,
          .distance = distance.clamp(0, distances - 1).unsqueeze(0).unsqueeze(0),
          .near = within(distance, distances),
          .phoneme = phoneme.clamp(0, length - 1).unsqueeze(0).unsqueeze(0),
          .exists = within(phoneme, length)};
}

at::Tensor AtenVitsEncoder::Attend(const Layer& layer, const at::Tensor& x,
                                   const at::Tensor& barrier, const Band& band) {
  const int64_t batch = x.size(0);
  const int64_t length = x.size(1);
  const int64_t hidden = x.size(2);
  const int64_t channels = layer.relative_keys.size(2);
  const int64_t heads = hidden / channels;
  // [3, batch, heads, length, channels]
  const at::Tensor projected = layer.query_key_value.RunRows(x)
                                   .view({batch, length, 3, heads, channels})
                                   .permute({2, 0, 3, 1, 4})
                                   .contiguous();
  const at::Tensor query = projected[0] / std::sqrt(static_cast<double>(channels));
  const at::Tensor near = at::matmul(query, layer.relative_keys[0].t());
  const at::Tensor scores =
      at::matmul(query, projected[1].transpose(2, 3)) +
      near.gather(3, band.distance.expand({batch, heads, length, length})) * band.near + barrier;
  const at::Tensor weights = at::softmax(scores, -1);
  const at::Tensor beside =
      weights.gather(3, band.phoneme.expand({batch, heads, length, band.distances})) * band.exists;
  const at::Tensor output =
      at::matmul(weights, projected[2]) + at::matmul(beside, layer.relative_values[0]);
  return layer.output.RunRows(output.transpose(1, 2).flatten(2));
}

AtenVitsEncoder::Output AtenVitsEncoder::Forward(const Input& input, double length_scale) const {
  const int64_t length = input.phonemes.size(1);
  const at::Tensor places = at::arange(length, input.counts.options()).unsqueeze(0);
  const at::Tensor mask = (places < input.counts).to(at::kFloat).unsqueeze(2);
  const at::Tensor barrier = ((mask - 1) * kOutOfSight).view({-1, 1, 1, length});
  at::Tensor x = at::embedding(weights_.embedding, input.phonemes) *
                 std::sqrt(static_cast<double>(weights_.embedding.size(1)));
  Band band;
  for (const Layer& layer : weights_.layers) {
    if (band.distances != layer.relative_keys.size(1))
      band = MakeBand(length, layer.relative_keys.size(1), input.counts.options());
    x = layer.norm_1.Run(x + Attend(layer, x, barrier, band)) * mask;
    x = layer.norm_2.Run(x + layer.feed_2.RunRows(at::relu(layer.feed_1.RunRows(x)) * mask)) * mask;
  }
  // A source has the values of all phonemes for the first channel, then those for the second.
  const at::Tensor source = speech::DrawNoise(input.noise_keys, 2 * length);
  const auto channel = [&](const at::Tensor& first) {
    return source.gather(1, (places + first).clamp_max(2 * length - 1));
  };
  const at::Tensor noise =
      at::stack({source.narrow(1, 0, length), channel(input.counts)}, 2) * input.noise_w;
  const at::Tensor speaker = weights_.speakers.defined()
                                 ? at::embedding(weights_.speakers, input.speakers).unsqueeze(1)
                                 : at::Tensor();
  const at::Tensor log_frames = durations_.LogFrames(x, noise, speaker, mask);
  return {weights_.projection.RunRows(x), at::ceil(at::exp(log_frames) * length_scale)};
}

std::vector<int64_t> AtenVitsEncoder::FramesOf(std::span<const float> lengths) {
  constexpr auto kMost = static_cast<float>(VitsEncoder::kMaxFrames);
  std::vector<int64_t> frames;
  frames.reserve(lengths.size());
  for (const float length : lengths) {
    frames.push_back(
        std::isnan(length) ? 0 : static_cast<int64_t>(std::fmin(std::fmax(length, 1.0F), kMost)));
  }
  return frames;
}

}  // namespace millrace::vits
