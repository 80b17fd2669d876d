#include "models/vits/vits_encoder.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ceil.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

namespace millrace::vits {
namespace {

// Calls of(a row of `square`'s diagonal band, the same row of `band`, their length) for each row:
// position j of row i of the square [heads, length, length] and distance j - i + window of the band
// [heads, length, 2 * window + 1] are the same.
template <typename Of>
void ForEachRowOfBand(const at::Tensor& square, const at::Tensor& band, Of of) {
  const int64_t heads = square.size(0);
  const int64_t length = square.size(1);
  const int64_t distances = band.size(2);
  const int64_t window = distances / 2;
  auto* positions = square.mutable_data_ptr<float>();
  auto* near = band.mutable_data_ptr<float>();
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t i = 0; i < length; ++i, positions += length, near += distances) {
      const int64_t begin = std::max<int64_t>(i - window, 0);
      const int64_t end = std::min(i + window + 1, length);
      of(positions + begin, near + begin - i + window, end - begin);
    }
  }
}

}  // namespace

VitsEncoder::VitsEncoder(VitsWeights& weights) : weights_(weights) {
  if (!weights.status().ok()) return;
  durations_ = VitsDurations<speech::CpuConv>(weights, weights_.embedding.size(1),
                                              weights_.speaker_channels());
}

// Computes self-attention with learned embeddings of the distance, within the window.
at::Tensor VitsEncoder::Attend(const Layer& layer, const at::Tensor& x) {
  const int64_t length = x.size(0);
  const int64_t hidden = x.size(1);
  const int64_t channels = layer.relative_keys.size(2);
  const at::Tensor projected = layer.query_key_value.RunRows(x);
  const auto heads = [&](int64_t part) {
    return projected.narrow(1, part * hidden, hidden)
        .unflatten(1, {-1, channels})
        .transpose(0, 1);  // [heads, length, channels]
  };
  const at::Tensor query = heads(0) / std::sqrt(static_cast<double>(channels));
  const at::Tensor scores = at::matmul(query, heads(1).transpose(1, 2)).contiguous();
  const at::Tensor near = at::matmul(query, layer.relative_keys.transpose(1, 2)).contiguous();
  ForEachRowOfBand(scores, near, [](float* positions, const float* distances, int64_t count) {
    for (int64_t i = 0; i < count; ++i) positions[i] += distances[i];
  });
  const at::Tensor weights = at::softmax(scores, -1);
  const at::Tensor band = at::zeros(near.sizes(), near.options());
  ForEachRowOfBand(weights, band, [](const float* positions, float* distances, int64_t count) {
    std::copy_n(positions, count, distances);
  });
  const at::Tensor output = at::matmul(weights, heads(2)) + at::matmul(band, layer.relative_values);
  return layer.output.RunRows(output.transpose(0, 1).reshape({length, hidden}));
}

VitsEncoder::Output VitsEncoder::Forward(std::span<const int64_t> phonemes,
                                         std::span<const float> noise, double noise_w,
                                         double length_scale, int64_t speaker) const {
  const auto length = static_cast<int64_t>(phonemes.size());
  const at::Tensor ids = at::from_blob(const_cast<int64_t*>(phonemes.data()), {length}, at::kLong);
  const at::Tensor z = at::from_blob(const_cast<float*>(noise.data()), {2, length}, at::kFloat);
  at::Tensor x = at::embedding(weights_.embedding, ids) *
                 std::sqrt(static_cast<double>(weights_.embedding.size(1)));
  for (const Layer& layer : weights_.layers) {
    x = layer.norm_1.Run(x + Attend(layer, x));
    x = layer.norm_2.Run(x + layer.feed_2.RunRows(at::relu(layer.feed_1.RunRows(x))));
  }
  const at::Tensor log_frames = durations_.LogFrames(
      x, (z * noise_w).transpose(0, 1),
      weights_.speakers.defined() ? weights_.speakers.narrow(0, speaker, 1) : at::Tensor());
  const at::Tensor frames =
      at::ceil(at::exp(log_frames) * length_scale).clamp(1, kMaxFrames).to(at::kLong);
  const int64_t* data = frames.const_data_ptr<int64_t>();
  return {weights_.projection.RunRows(x).contiguous(),
          std::vector<int64_t>(data, data + frames.numel())};
}

}  // namespace millrace::vits
