#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "models/speech/noise.h"
#include "models/vits/cpu_vits_decoder.h"
#include "models/vits/vits_batch.h"
#include "models/vits/vits_encoder.h"
#include "models/vits/vits_weights.h"
#include "tests/fakes/fake_worker_context.h"

namespace millrace::vits {

// A voice that speaks sentences one by one on the CPU, and in batches on a device, with the same
// noise.
class BatchComparison {
 public:
  static constexpr double kLengthScale = 1.1;

  BatchComparison(const std::filesystem::path& file, at::Device device) {
    auto weights = VitsWeights::Open(file, at::kCPU);
    EXPECT_TRUE(weights.ok()) << weights.status();
    hop_ = weights->shape().hop();
    cpu_encoder_ = std::make_unique<VitsEncoder>(*weights);
    cpu_decoder_ = std::make_unique<CpuVitsDecoder>(*weights, cpu_encoder_->latent());
    EXPECT_TRUE(weights->status().ok()) << weights->status();
    auto device_weights = VitsWeights::Open(file, device);
    EXPECT_TRUE(device_weights.ok()) << device_weights.status();
    auto encoder = std::make_unique<AtenVitsEncoder>(*device_weights);
    auto decoder =
        std::make_unique<AtenVitsDecoder>(*device_weights, cpu_encoder_->latent(), "alone");
    EXPECT_TRUE(device_weights->status().ok()) << device_weights->status();
    gap_ = decoder->gap();
    batch_ = std::make_unique<VitsBatch>(std::move(encoder), std::move(decoder), kLengthScale,
                                         "voice/1");
  }

  int64_t gap() const { return gap_; }
  const VitsBatch& batch() const { return *batch_; }

  // Adds a sentence of that many phonemes. Sentences differ in everything.
  void Add(size_t phonemes) {
    const auto number = static_cast<int64_t>(sentences_.size());
    std::vector<int64_t> ids(phonemes);
    for (size_t i = 0; i < phonemes; ++i)
      ids[i] = static_cast<int64_t>(i * i + 7 * static_cast<size_t>(number)) %
               std::min<int64_t>(cpu_encoder_->symbols(), 60);
    Add(std::move(ids), {.speaker = number % cpu_encoder_->speakers(),
                         .noise_scale = 0.2F * static_cast<float>(number % 4),
                         .noise_w = 0.4F * static_cast<float>(number % 3),
                         .seed = static_cast<uint64_t>(number) * 0x9E3779B97F4A7C15,
                         .duration_stream = 2 * static_cast<uint64_t>(number % 5),
                         .latent_stream = 2 * static_cast<uint64_t>(number % 5) + 1});
  }
  void Add(std::vector<int64_t> ids, VitsBatch::Sentence sentence) {
    sentence.phonemes = ids_.emplace_back(std::move(ids));
    sentences_.push_back(sentence);
  }

  // The sentences' frames divided by the speeds, which are used in turn, so that phonemes may have
  // none.
  struct Spoken {
    std::vector<std::vector<int64_t>> durations;  // frames of each phoneme at normal speed
    std::vector<std::vector<float>> samples;
  };
  Spoken Alone() const {
    models::FakeWorkerContext context;
    Spoken spoken;
    for (const VitsBatch::Sentence& sentence : sentences_) {
      const std::vector<float> rhythm =
          Noise(sentence.seed, sentence.duration_stream, 2 * sentence.phonemes.size());
      auto encoded = cpu_encoder_->Forward(sentence.phonemes, rhythm, sentence.noise_w,
                                           kLengthScale, sentence.speaker);
      spoken.durations.push_back(encoded.frames);
      encoded.frames = Scaled(encoded.frames, spoken.samples.size());
      const int64_t frames = Sum(encoded.frames);
      const std::vector<float> noise = Noise(sentence.seed, sentence.latent_stream,
                                             static_cast<size_t>(frames * cpu_encoder_->latent()));
      spoken.samples.push_back(*cpu_decoder_
                                    ->Start({encoded.statistics, encoded.frames, noise,
                                             sentence.noise_scale, sentence.speaker})
                                    ->Generate(
                                        0, frames, [] { return false; }, context));
    }
    return spoken;
  }
  Spoken Together(runtime::WorkerContext& context) const {
    auto encoded = batch_->Encode(sentences_, context);
    Spoken spoken;
    std::vector<int64_t> frames;
    for (size_t i = 0; i < encoded.size(); ++i) {
      spoken.durations.push_back(encoded[i].frames);
      encoded[i].frames = Scaled(encoded[i].frames, i);
      frames.push_back(Sum(encoded[i].frames));
    }
    spoken.samples.resize(sentences_.size());
    for (const std::vector<size_t>& group : batch_->Group(frames)) {
      std::vector<VitsBatch::Part> parts;
      for (const size_t i : group) parts.push_back({sentences_[i], encoded[i], frames[i]});
      auto samples = batch_->Decode(parts, context);
      for (size_t i = 0; i < group.size(); ++i) spoken.samples[group[i]] = std::move(samples[i]);
    }
    return spoken;
  }

  // Expects equal durations, and samples within the tolerance.
  void ExpectEqual(runtime::WorkerContext& context, float tolerance) const {
    const Spoken alone = Alone();
    const Spoken together = Together(context);
    ASSERT_EQ(together.samples.size(), sentences_.size());
    float loudest = 0;
    float furthest = 0;
    for (size_t i = 0; i < sentences_.size(); ++i) {
      ASSERT_EQ(alone.durations[i], together.durations[i]) << i;
      ASSERT_EQ(alone.samples[i].size(), together.samples[i].size()) << i;
      for (size_t j = 0; j < alone.samples[i].size(); ++j) {
        const float off = std::abs(alone.samples[i][j] - together.samples[i][j]);
        furthest = off <= furthest ? furthest : off;  // also where it is no number
        loudest = std::max(loudest, std::abs(alone.samples[i][j]));
      }
      EXPECT_LE(furthest, tolerance) << i << " of " << alone.samples[i].size() << " samples";
    }
    ::testing::Test::RecordProperty("furthest", std::to_string(furthest));
    EXPECT_GE(loudest, 0.05F);  // silence would be no test
  }

 private:
  static int64_t Sum(const std::vector<int64_t>& frames) {
    return std::accumulate(frames.begin(), frames.end(), int64_t{0});
  }
  static std::vector<float> Noise(uint64_t seed, uint64_t stream, size_t count) {
    std::vector<float> noise(count);
    speech::NoiseSource(seed, stream).Fill(noise);
    return noise;
  }
  static std::vector<int64_t> Scaled(std::vector<int64_t> frames, size_t sentence) {
    if (sentence % 3 == 0) return frames;
    for (int64_t& count : frames) count = sentence % 3 == 1 ? count / 2 : 2 * count;
    if (Sum(frames) == 0) frames.front() = 1;
    return frames;
  }

  int64_t hop_ = 1;
  int64_t gap_ = 0;
  std::unique_ptr<VitsEncoder> cpu_encoder_;
  std::unique_ptr<CpuVitsDecoder> cpu_decoder_;
  std::unique_ptr<VitsBatch> batch_;
  std::deque<std::vector<int64_t>> ids_;
  std::vector<VitsBatch::Sentence> sentences_;
};

}  // namespace millrace::vits
