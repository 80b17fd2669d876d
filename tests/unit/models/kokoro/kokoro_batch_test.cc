// Padded batches of Kokoro against sentences alone at their own lengths, on small random weights
// and on the CPU.

#include "models/kokoro/kokoro_batch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "models/kokoro/harmonic_source.h"
#include "models/kokoro/kokoro_weights.h"
#include "models/speech/device_noise.h"
#include "models/speech/noise.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/unit/models/kokoro/sentence_comparison.h"
#include "tests/unit/models/kokoro/tiny_kokoro.h"
#include "tests/unit/models/speech/ran_operators.h"

namespace millrace::kokoro {
namespace {

constexpr int kSampleRate = 24000;

std::vector<float> ToVector(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous();
  return {flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel()};
}

TEST(DrawNoiseTest, GivesTheValuesOfNoiseSource) {
  const at::InferenceMode inference;
  const std::vector<std::pair<uint64_t, uint64_t>> sources = {
      {0, 0}, {7, 3}, {0xFFFFFFFFFFFFFFFF, 0x8000000080000001}, {0x123456789ABCDEF0, 1}};
  std::vector<at::Tensor> keys;
  for (const auto& [seed, stream] : sources) keys.push_back(speech::NoiseKey(seed, stream));
  for (const int64_t count : {1, 5, 8, 4099}) {
    const at::Tensor drawn = speech::DrawNoise(at::stack(keys), count);
    for (size_t i = 0; i < sources.size(); ++i) {
      std::vector<float> expected(static_cast<size_t>(count));
      speech::NoiseSource(sources[i].first, sources[i].second).Fill(expected);
      EXPECT_LE(Difference(expected, ToVector(drawn[static_cast<int64_t>(i)])), 1e-6F)
          << count << " of source " << i;
    }
  }
}

class KokoroBatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteTinyKokoro(folder_.path(), {.durations = 9});
    auto weights = KokoroWeights::Open(folder_.path() / "model.safetensors", at::kCPU);
    ASSERT_TRUE(weights.ok()) << weights.status();
    encoder_ = std::make_unique<KokoroEncoder>(*weights);
    decoder_ = std::make_unique<KokoroDecoder>(*weights, kSampleRate);
    padded_encoder_ = std::make_unique<KokoroEncoder>(*weights, /*padded=*/true);
    padded_decoder_ = std::make_unique<KokoroDecoder>(*weights, kSampleRate, /*padded=*/true);
    styles_ = weights->Take("voices.anna", {-1, -1});
    ASSERT_TRUE(weights->status().ok()) << weights->status();
    samples_per_frame_ = weights->shape().samples_per_frame();
    batch_ = std::make_unique<KokoroBatch>(*padded_encoder_, *padded_decoder_, samples_per_frame_,
                                           "tiny/1");
  }

  // Adds a sentence of that many phonemes; sentences of equal lengths differ.
  void AddSentence(size_t phonemes) {
    std::vector<int64_t>& ids = phonemes_.emplace_back(phonemes);
    for (size_t i = 1; i + 1 < phonemes; ++i)
      ids[i] = static_cast<int64_t>((i * i + 7 * phonemes_.size()) % 40 + 1);
    sentences_.push_back({ids, styles_.narrow(0, static_cast<int64_t>(phonemes) - 1, 1),
                          /*seed=*/5, /*stream=*/phonemes_.size()});
  }
  std::vector<KokoroBatch::Part> Parts(const std::vector<KokoroBatch::Encoded>& encoded) const {
    std::vector<KokoroBatch::Part> parts;
    for (size_t i = 0; i < encoded.size(); ++i) {
      const auto& frames = encoded[i].frames;
      parts.push_back(
          {sentences_[i], encoded[i], std::accumulate(frames.begin(), frames.end(), int64_t{0})});
    }
    return parts;
  }
  KokoroEncoder::Output EncodeAlone(size_t i) const {
    const int64_t half = decoder_->style_channels();
    return encoder_->Forward(sentences_[i].phonemes, sentences_[i].style.narrow(1, half, half));
  }
  std::vector<float> SpeakAlone(size_t i) const {
    const KokoroEncoder::Output encoded = EncodeAlone(i);
    const int64_t frames =
        std::accumulate(encoded.frames.begin(), encoded.frames.end(), int64_t{0});
    std::vector<float> noise(
        static_cast<size_t>(frames * samples_per_frame_ * decoder_->noise_per_sample()));
    speech::NoiseSource(sentences_[i].seed, sentences_[i].stream).Fill(noise);
    const at::Tensor& style = sentences_[i].style;
    return *decoder_->Decode(encoded, decoder_->Predict(encoded, style), style, noise,
                             [] { return false; });
  }

  const at::InferenceMode inference_;
  const testing::TemporaryFolder folder_;
  models::FakeWorkerContext context_;
  at::Tensor styles_;
  int64_t samples_per_frame_ = 0;
  std::unique_ptr<KokoroEncoder> encoder_, padded_encoder_;
  std::unique_ptr<KokoroDecoder> decoder_, padded_decoder_;
  std::unique_ptr<KokoroBatch> batch_;
  std::deque<std::vector<int64_t>> phonemes_;
  std::vector<KokoroBatch::Sentence> sentences_;
};

TEST_F(KokoroBatchTest, EncodesAsAlone) {
  for (const size_t phonemes : {3, 4, 17, 48, 31, 32, 33}) AddSentence(phonemes);
  const auto encoded = batch_->Encode(sentences_, context_);
  ASSERT_EQ(encoded.size(), sentences_.size());
  for (size_t i = 0; i < sentences_.size(); ++i) {
    const KokoroEncoder::Output alone = EncodeAlone(i);
    EXPECT_EQ(encoded[i].frames, alone.frames);
    const int64_t prosody = alone.prosody.size(2);
    const at::Tensor& features = encoded[i].features;
    EXPECT_LE(Difference(ToVector(alone.prosody), ToVector(features.narrow(1, 0, prosody))), 1e-5F);
    EXPECT_LE(Difference(ToVector(alone.text[0].t()),
                         ToVector(features.narrow(1, prosody, features.size(1) - prosody))),
              1e-5F);
  }
}

TEST_F(KokoroBatchTest, SpeaksEveryLengthAsAlone) {
  SentenceComparison comparison;
  for (size_t phonemes = 3; phonemes <= 48; ++phonemes) {
    phonemes_.clear();
    sentences_.clear();
    AddSentence(phonemes);
    const auto encoded = batch_->Encode(sentences_, context_);
    comparison.Add(SpeakAlone(0), batch_->Decode(Parts(encoded), context_)[0]);
  }
}

TEST_F(KokoroBatchTest, SpeaksTogetherAsAlone) {
  for (const size_t phonemes : {20, 3, 48, 20, 33}) AddSentence(phonemes);
  const auto encoded = batch_->Encode(sentences_, context_);
  const auto spoken = batch_->Decode(Parts(encoded), context_);
  ASSERT_EQ(spoken.size(), sentences_.size());
  SentenceComparison comparison;
  for (size_t i = 0; i < sentences_.size(); ++i) comparison.Add(SpeakAlone(i), spoken[i]);
  EXPECT_NE(spoken[0], spoken[3]);
}

TEST_F(KokoroBatchTest, TheForwardsNeedNoNumberFromTheDevice) {
  AddSentence(20);
  const std::set<std::string> seen = speech::OperatorsWithoutTheHost([&] {
    const auto encoded = batch_->Encode(sentences_, context_);
    batch_->Decode(Parts(encoded), context_);
  });
  EXPECT_TRUE(seen.contains("aten::lstm") && seen.contains("aten::scatter"));
}

// Real and imaginary parts of a spectrum of magnitudes and phases, of one sentence to its end.
std::vector<float> Parts(const at::Tensor& spectrum, int64_t frames) {
  const int64_t bins = spectrum.size(0) / 2;
  const at::Tensor magnitudes = spectrum.narrow(0, 0, bins).narrow(1, 0, frames);
  const at::Tensor phases = spectrum.narrow(0, bins, bins).narrow(1, 0, frames);
  return ToVector(at::stack({magnitudes * phases.cos(), magnitudes * phases.sin()}));
}

TEST(HarmonicSourceTest, APaddedBatchIsEachAlone) {
  const at::InferenceMode inference;
  const testing::TemporaryFolder folder;
  WriteTinyKokoro(folder.path(), {});
  auto weights = KokoroWeights::Open(folder.path() / "model.safetensors", at::kCPU);
  ASSERT_TRUE(weights.ok()) << weights.status();
  const HarmonicSource source(*weights, kSampleRate);
  const int64_t each = weights->shape().samples_per_pitch();
  constexpr int64_t kValues = 40;
  const std::vector<int64_t> counts = {2, 40, 7, 39};
  const auto batch = static_cast<int64_t>(counts.size());
  // Voiced and unvoiced; beyond the end it has values too.
  const at::Tensor pitch = at::empty({batch, kValues});
  for (int64_t i = 0; i < pitch.numel(); ++i) {
    pitch.mutable_data_ptr<float>()[i] =
        i % 11 < 3 ? 0 : 150 + 80 * std::sin(0.3F * static_cast<float>(i));
  }
  const at::Tensor noise = at::empty({batch, kValues * each, source.sines()});
  speech::NoiseSource(1, 2).Fill(
      {noise.mutable_data_ptr<float>(), static_cast<size_t>(noise.numel())});
  const at::Tensor ends = at::empty({batch, 1, 1});
  for (size_t i = 0; i < counts.size(); ++i)
    ends.mutable_data_ptr<float>()[i] = static_cast<float>(counts[i]);
  const KokoroExtent extent = KokoroExtent::Of(ends, kValues);
  const int64_t hops = each / weights->shape().fft_hop;
  const at::Tensor together = source.RunPadded(pitch, noise, extent, extent.Times(hops, 1));
  for (int64_t i = 0; i < batch; ++i) {
    const int64_t count = counts[static_cast<size_t>(i)];
    const at::Tensor alone = source.Run(pitch.narrow(0, i, 1).narrow(1, 0, count),
                                        noise.narrow(0, i, 1).narrow(1, 0, count * each));
    const int64_t frames = count * hops + 1;
    ASSERT_EQ(alone.size(2), frames);
    EXPECT_LE(Difference(Parts(alone[0], frames), Parts(together[i], frames)), 1e-5F) << count;
    const at::Tensor beyond = together[i].narrow(1, frames, together.size(2) - frames);
    EXPECT_EQ(beyond.abs().sum().item<float>(), 0) << count;
  }
}

TEST(KokoroBatchGroupsTest, TakeTheLeastTimeTogether) {
  const auto group = [](const std::vector<int64_t>& frames) { return KokoroBatch::Group(frames); };
  using Groups = std::vector<std::vector<size_t>>;
  EXPECT_EQ(group({}), Groups{});
  EXPECT_EQ(group({70}), Groups{{0}});
  EXPECT_EQ(group({100, 101, 99, 102}), (Groups{{3, 1, 0, 2}}));
  EXPECT_EQ(group({100, 101, 99}), (Groups{{1, 0, 2}}));  // a row of padding costs less
  EXPECT_EQ(group({100, 300, 110}), (Groups{{1, 2, 0}}));
  EXPECT_EQ(group({60, 60, 1000, 60}), (Groups{{2}, {0, 1, 3}}));        // long rows cost more
  EXPECT_EQ(group({1000, 1000, 1000, 1000}), (Groups{{0, 1}, {2, 3}}));  // memory is bounded
  EXPECT_EQ(group({2300, 2300}), (Groups{{0}, {1}}));                    // the longest goes alone
  EXPECT_EQ(group(std::vector<int64_t>(36, 5)).size(), 3U);              // 16, 16 and 4
}

}  // namespace
}  // namespace millrace::kokoro
