#include "models/vits/vits_batch.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "models/core/shape_bucket.h"
#include "models/core/strings.h"
#include "models/speech/device_noise.h"
#include "mps_runtime/cached_forward.h"

namespace millrace::vits {
namespace {

constexpr int64_t kSmallestPhonemes = 32;
// The most phonemes of an encoder's batch, padding included: attention is quadratic in a sentence.
constexpr int64_t kMaxBatchPhonemes = 4096;
constexpr int64_t kSmallestPackedFrames = 64;
// The most frames that are decoded together. Every frame takes about 0.25 MB while it is decoded,
// and this many keep a GPU busy.
constexpr int64_t kMaxPackedFrames = 4096;

int64_t PhonemesBucket(size_t phonemes) {
  return models::ShapeBucket(static_cast<int64_t>(phonemes), kSmallestPhonemes);
}

// Pads the size of a batch, because each is a shape of its own.
int64_t PaddedSentences(size_t sentences) { return static_cast<int64_t>(std::bit_ceil(sentences)); }

void CopyKey(const at::Tensor& key, int64_t* to) {
  std::copy_n(key.const_data_ptr<int64_t>(), key.numel(), to);
}

}  // namespace

VitsBatch::VitsBatch(std::unique_ptr<const AtenVitsEncoder> encoder,
                     std::unique_ptr<const AtenVitsDecoder> decoder, double length_scale,
                     std::string model)
    : encoder_(std::move(encoder)),
      decoder_(std::move(decoder)),
      length_scale_(length_scale),
      model_(std::move(model)) {}

std::vector<VitsBatch::Encoded> VitsBatch::Encode(std::span<const Sentence> sentences,
                                                  runtime::WorkerContext& context) const {
  std::vector<size_t> order(sentences.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return sentences[a].phonemes.size() > sentences[b].phonemes.size();
  });
  std::vector<Encoded> all(sentences.size());
  for (std::span<const size_t> left = order; !left.empty();) {
    const int64_t bucket = PhonemesBucket(sentences[left.front()].phonemes.size());
    const size_t most = std::bit_floor(static_cast<uint64_t>(kMaxBatchPhonemes / bucket));
    const size_t size = std::clamp<size_t>(left.size(), 1, std::max<size_t>(most, 1));
    EncodeTogether(sentences, left.first(size), context, all);
    left = left.subspan(size);
  }
  return all;
}

void VitsBatch::EncodeTogether(std::span<const Sentence> sentences, std::span<const size_t> indices,
                               runtime::WorkerContext& context, std::vector<Encoded>& all) const {
  const int64_t bucket = PhonemesBucket(sentences[indices.front()].phonemes.size());
  const int64_t batch = PaddedSentences(indices.size());
  const at::Tensor ids = at::zeros({batch, bucket}, at::kLong);
  const at::Tensor counts = at::ones({batch, 1}, at::kLong);
  const at::Tensor keys = at::zeros({batch, 4}, at::kLong);
  const at::Tensor noise_w = at::zeros({batch, 1, 1});
  const at::Tensor speakers = at::zeros({batch}, at::kLong);
  for (size_t row = 0; row < indices.size(); ++row) {
    const Sentence& sentence = sentences[indices[row]];
    std::copy(sentence.phonemes.begin(), sentence.phonemes.end(),
              ids.mutable_data_ptr<int64_t>() + static_cast<int64_t>(row) * bucket);
    counts.mutable_data_ptr<int64_t>()[row] = static_cast<int64_t>(sentence.phonemes.size());
    CopyKey(speech::NoiseKey(sentence.seed, sentence.duration_stream),
            keys.mutable_data_ptr<int64_t>() + 4 * row);
    noise_w.mutable_data_ptr<float>()[row] = sentence.noise_w;
    speakers.mutable_data_ptr<int64_t>()[row] = sentence.speaker;
  }
  const runtime::GraphKey key{.model = model_,
                              .entry_point = StrCat("encode ", batch),
                              .shape_bucket = bucket,
                              .instance = instance_};
  const auto outputs = runtime::RunCachedOnHost(
      context, key, {ids, counts, keys, noise_w, speakers},
      [this](const std::vector<at::Tensor>& given) {
        const AtenVitsEncoder::Output encoded =
            encoder_->Forward({given[0], given[1], given[2], given[3], given[4]}, length_scale_);
        return std::vector<at::Tensor>{encoded.statistics, encoded.lengths};
      });
  for (size_t i = 0; i < indices.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const size_t count = sentences[indices[i]].phonemes.size();
    const at::Tensor lengths = outputs[1][row].contiguous();
    all[indices[i]] = {outputs[0][row].narrow(0, 0, static_cast<int64_t>(count)).clone(),
                       AtenVitsEncoder::FramesOf({lengths.const_data_ptr<float>(), count})};
  }
}

std::vector<std::vector<float>> VitsBatch::Decode(std::span<const Part> parts,
                                                  runtime::WorkerContext& context) const {
  int64_t frames = 0;
  for (const Part& part : parts) frames += part.frames + decoder_->gap();
  const int64_t bucket = models::ShapeBucket(frames - decoder_->gap(), kSmallestPackedFrames);
  const int64_t width = 2 * decoder_->latent();
  const at::Tensor statistics = at::zeros({bucket, width});
  const at::Tensor keys = at::zeros({bucket, 4}, at::kLong);
  const at::Tensor places = at::zeros({bucket}, at::kLong);
  const at::Tensor noise_scale = at::zeros({bucket, 1});
  const at::Tensor mask = at::zeros({bucket});
  const at::Tensor speakers = at::zeros({bucket}, at::kLong);
  int64_t begin = 0;
  for (const Part& part : parts) {
    // Each phoneme's row is repeated for each of its frames on the host, because their number would
    // be one more shape.
    const float* from = part.encoded.statistics.const_data_ptr<float>();
    float* to = statistics.mutable_data_ptr<float>() + begin * width;
    for (const int64_t count : part.encoded.frames) {
      for (int64_t frame = 0; frame < count; ++frame) to = std::copy_n(from, width, to);
      from += width;
    }
    const at::Tensor key = speech::NoiseKey(part.sentence.seed, part.sentence.latent_stream);
    for (int64_t frame = 0; frame < part.frames; ++frame)
      CopyKey(key, keys.mutable_data_ptr<int64_t>() + 4 * (begin + frame));
    auto* const numbers = places.mutable_data_ptr<int64_t>() + begin;
    std::iota(numbers, numbers + part.frames, int64_t{0});
    std::fill_n(noise_scale.mutable_data_ptr<float>() + begin, part.frames,
                part.sentence.noise_scale);
    std::fill_n(mask.mutable_data_ptr<float>() + begin, part.frames, 1.0F);
    std::fill_n(speakers.mutable_data_ptr<int64_t>() + begin, part.frames, part.sentence.speaker);
    begin += part.frames + decoder_->gap();
  }
  const runtime::GraphKey key{.model = model_,
                              .entry_point = "decode packed",
                              .shape_bucket = bucket,
                              .instance = instance_};
  const at::Tensor samples =
      runtime::RunCachedOnHost(context, key,
                               {statistics, keys, places, noise_scale, mask, speakers},
                               [this](const std::vector<at::Tensor>& given) {
                                 return std::vector<at::Tensor>{decoder_->DecodePacked(
                                     {given[0], given[1], given[2], given[3], given[4], given[5]})};
                               })[0]
          .contiguous();
  std::vector<std::vector<float>> all;
  const float* data = samples.const_data_ptr<float>();
  for (const Part& part : parts) {
    all.emplace_back(data, data + part.frames * decoder_->hop());
    data += (part.frames + decoder_->gap()) * decoder_->hop();
  }
  return all;
}

std::vector<std::vector<size_t>> VitsBatch::Group(std::span<const int64_t> frames) const {
  std::vector<std::vector<size_t>> groups;
  int64_t room = 0;
  for (size_t i = 0; i < frames.size(); ++i) {
    if (groups.empty() || frames[i] > room) {
      groups.emplace_back();
      room = kMaxPackedFrames;
    }
    groups.back().push_back(i);
    room -= frames[i] + decoder_->gap();
  }
  return groups;
}

}  // namespace millrace::vits
