#include "models/kokoro/kokoro_batch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "models/core/shape_bucket.h"
#include "models/core/strings.h"
#include "models/kokoro/kokoro_extent.h"
#include "models/speech/device_noise.h"
#include "mps_runtime/cached_forward.h"

namespace millrace::kokoro {
namespace {

constexpr int64_t kSmallestPhonemes = 32;
constexpr int64_t kSmallestFrames = 64;
// The most frames of a batch, padding included. A captured graph takes about 0.4 MB for each and
// must fit into the graph cache; and this many keep a GPU busy.
constexpr int64_t kMaxBatchFrames = 2048;
// A GPU takes as long for the many small kernels of a decoder's forward as for so many more frames.
constexpr int64_t kForwardFrames = 1024;

int64_t FramesBucket(int64_t frames) { return models::ShapeBucket(frames, kSmallestFrames); }

// Pads the batch size, because each is a shape of its own.
int64_t PaddedSize(size_t sentences) { return static_cast<int64_t>(std::bit_ceil(sentences)); }

// Repeats the rows of features [batch, phonemes, channels] for each frame: [batch, frames,
// channels], zero beyond the counts. rows: [batch, frames], indices into all rows.
at::Tensor Repeat(const at::Tensor& features, const at::Tensor& rows, const at::Tensor& counts) {
  const KokoroExtent extent = KokoroExtent::Of(counts, rows.size(1));
  return at::index_select(features.flatten(0, 1), 0, rows.flatten())
             .view({rows.size(0), rows.size(1), features.size(2)}) *
         extent.mask.transpose(1, 2);
}

}  // namespace

KokoroBatch::KokoroBatch(const KokoroEncoder& encoder, const KokoroDecoder& decoder,
                         int64_t samples_per_frame, std::string model)
    : encoder_(encoder),
      decoder_(decoder),
      samples_per_frame_(samples_per_frame),
      model_(std::move(model)) {}

int64_t KokoroBatch::PhonemesBucket(size_t phonemes) const {
  return std::min(models::ShapeBucket(static_cast<int64_t>(phonemes), kSmallestPhonemes),
                  encoder_.max_phonemes());
}

std::vector<KokoroBatch::Encoded> KokoroBatch::Encode(std::span<const Sentence> sentences,
                                                      runtime::WorkerContext& context) const {
  size_t longest = 1;
  for (const Sentence& sentence : sentences) longest = std::max(longest, sentence.phonemes.size());
  const int64_t bucket = PhonemesBucket(longest);
  const int64_t batch = PaddedSize(sentences.size());
  const int64_t half = decoder_.style_channels();
  const at::Tensor ids = at::zeros({batch, bucket}, at::kLong);
  const at::Tensor counts = at::ones({batch, 1, 1});
  const at::Tensor style = at::zeros({batch, half});
  for (size_t i = 0; i < sentences.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const Sentence& sentence = sentences[i];
    std::copy(sentence.phonemes.begin(), sentence.phonemes.end(),
              ids.mutable_data_ptr<int64_t>() + row * bucket);
    counts.mutable_data_ptr<float>()[i] = static_cast<float>(sentence.phonemes.size());
    style.narrow(0, row, 1).copy_(sentence.style.narrow(1, half, half));
  }
  const runtime::GraphKey key{.model = model_,
                              .entry_point = StrCat("encode ", batch),
                              .shape_bucket = bucket,
                              .instance = instance_};
  const auto outputs = runtime::RunCachedOnHost(
      context, key, {ids, counts, style}, [this](const std::vector<at::Tensor>& given) {
        const KokoroEncoder::PaddedOutput encoded =
            encoder_.ForwardPadded({given[0], given[1], given[2]});
        return std::vector<at::Tensor>{encoded.features, encoded.lengths};
      });
  std::vector<Encoded> all;
  for (size_t i = 0; i < sentences.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const auto count = static_cast<int64_t>(sentences[i].phonemes.size());
    const at::Tensor lengths = outputs[1][row].contiguous();
    all.push_back(
        {outputs[0][row].narrow(0, 0, count).clone(),
         KokoroEncoder::FramesOf({lengths.const_data_ptr<float>(), sentences[i].phonemes.size()})});
  }
  return all;
}

std::vector<std::vector<float>> KokoroBatch::Decode(std::span<const Part> parts,
                                                    runtime::WorkerContext& context) const {
  int64_t longest = 1;
  int64_t most_phonemes = 1;
  for (const Part& part : parts) {
    longest = std::max(longest, part.frames);
    most_phonemes = std::max(most_phonemes, part.encoded.features.size(0));
  }
  const int64_t bucket = FramesBucket(longest);
  // Few phonemes take fewer than two frames, so there are few such shapes for each bucket.
  int64_t phonemes = bucket / 2;
  while (phonemes < most_phonemes) phonemes *= 2;
  const int64_t batch = PaddedSize(parts.size());
  const int64_t channels = parts.front().encoded.features.size(1);
  // The rows behind a sentence's phonemes are not read.
  const at::Tensor features = at::empty({batch, phonemes, channels});
  const at::Tensor rows = at::zeros({batch, bucket}, at::kLong);  // the phoneme of each frame
  const at::Tensor counts = at::ones({batch, 1, 1});
  const at::Tensor style = at::zeros({batch, 2 * decoder_.style_channels()});
  const at::Tensor keys = at::zeros({batch, 4}, at::kLong);
  for (int64_t row = 0; row < batch; ++row) {
    int64_t* const first = rows.mutable_data_ptr<int64_t>() + row * bucket;
    std::fill_n(first, bucket, row * phonemes);
    if (row >= static_cast<int64_t>(parts.size())) {
      features[row][0].zero_();
      continue;
    }
    const Part& part = parts[static_cast<size_t>(row)];
    features[row].narrow(0, 0, part.encoded.features.size(0)).copy_(part.encoded.features);
    int64_t* next = first;
    for (size_t i = 0; i < part.encoded.frames.size(); ++i)
      next = std::fill_n(next, part.encoded.frames[i], row * phonemes + static_cast<int64_t>(i));
    counts.mutable_data_ptr<float>()[row] = static_cast<float>(part.frames);
    style.narrow(0, row, 1).copy_(part.sentence.style);
    keys[row].copy_(speech::NoiseKey(part.sentence.seed, part.sentence.stream));
  }
  const runtime::GraphKey key{.model = model_,
                              .entry_point = StrCat("decode ", batch, " from ", phonemes),
                              .shape_bucket = bucket,
                              .instance = instance_};
  const at::Tensor samples =
      runtime::RunCachedOnHost(context, key, {features, rows, counts, style, keys},
                               [this](const std::vector<at::Tensor>& given) {
                                 const KokoroDecoder::PaddedInput input{
                                     Repeat(given[0], given[1], given[2]), given[2], given[3],
                                     given[4]};
                                 return std::vector<at::Tensor>{
                                     decoder_.DecodePadded(input, decoder_.PredictPadded(input))};
                               })[0]
          .contiguous();
  std::vector<std::vector<float>> all;
  for (size_t i = 0; i < parts.size(); ++i) {
    const float* data =
        samples.const_data_ptr<float>() + static_cast<int64_t>(i) * bucket * samples_per_frame_;
    all.emplace_back(data, data + parts[i].frames * samples_per_frame_);
  }
  return all;
}

// Finds a division of the sentences, by length, whose cost is least: a forward costs as much as
// kForwardFrames frames, and padding costs as much as what it pads. The best division of the last
// sentences is known before that of all from an earlier one on.
std::vector<std::vector<size_t>> KokoroBatch::Group(std::span<const int64_t> frames) {
  std::vector<size_t> order(frames.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return frames[a] > frames[b]; });
  struct Division {
    int64_t cost = 0;
    size_t end = 0;  // the end of the first group
  };
  std::vector<Division> best(order.size() + 1);  // an entry for the sentences from each one on
  for (size_t begin = order.size(); begin-- > 0;) {
    const int64_t bucket = FramesBucket(frames[order[begin]]);
    best[begin].cost = std::numeric_limits<int64_t>::max();
    for (size_t end = begin + 1; end <= std::min(order.size(), begin + kMaxSentences); ++end) {
      const int64_t padded = PaddedSize(end - begin) * bucket;
      if (padded > kMaxBatchFrames && end > begin + 1) break;
      const int64_t cost = kForwardFrames + padded + best[end].cost;
      if (cost < best[begin].cost) best[begin] = {cost, end};
    }
  }
  std::vector<std::vector<size_t>> groups;
  for (size_t begin = 0; begin < order.size(); begin = best[begin].end) {
    groups.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(begin),
                        order.begin() + static_cast<std::ptrdiff_t>(best[begin].end));
  }
  return groups;
}

}  // namespace millrace::kokoro
