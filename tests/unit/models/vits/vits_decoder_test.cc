// The native decoder against the one of ATen operators, on small random voices of every shape that
// Piper has.

#include "models/vits/vits_decoder.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <vector>

#include "models/kernels/conv_kernels.h"
#include "models/kernels/pack_store.h"
#include "models/kernels/parallel_for.h"
#include "models/kernels/precision.h"
#include "models/speech/noise.h"
#include "models/vits/aten_vits_decoder.h"
#include "models/vits/cpu_vits_decoder.h"
#include "models/vits/vits_encoder.h"
#include "models/weights/pack_file.h"
#include "tests/fakes/at_once.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/fakes/threads_loop_runner.h"
#include "tests/unit/models/vits/tiny_vits.h"

namespace millrace::vits {
namespace {

// A voice with both decoders.
class Voice {
 public:
  explicit Voice(const TinyVits& shape,
                 kernels::Precision precision = kernels::Precision::kFloat32) {
    const at::InferenceMode inference;
    WriteTinyVits(folder_.path(), shape);
    auto weights = VitsWeights::Open(folder_.path() / "model.safetensors", at::kCPU);
    EXPECT_TRUE(weights.ok()) << weights.status();
    hop_ = weights->shape().hop();
    encoder_ = std::make_unique<VitsEncoder>(*weights);
    native_ = std::make_unique<CpuVitsDecoder>(*weights, encoder_->latent(), precision);
    aten_ = std::make_unique<AtenVitsDecoder>(*weights, encoder_->latent(), "tiny/1");
    EXPECT_TRUE(weights->status().ok()) << weights->status();
  }

  const VitsDecoder& native() const { return *native_; }
  const VitsDecoder& aten() const { return *aten_; }

  // In chunks of so many frames; 0: in one.
  std::vector<float> Speak(const VitsDecoder& decoder, size_t phonemes, int64_t frames_each,
                           int64_t speaker, int64_t chunk = 0) const {
    const at::InferenceMode inference;
    std::vector<int64_t> ids(phonemes);
    for (size_t i = 0; i < phonemes; ++i) ids[i] = static_cast<int64_t>(i % 30);
    const std::vector<float> rhythm(2 * phonemes);
    auto encoded = encoder_->Forward(ids, rhythm, 0, 1, speaker);
    std::fill(encoded.frames.begin(), encoded.frames.end(), frames_each);
    std::vector<float> noise(phonemes * static_cast<size_t>(frames_each * encoder_->latent()));
    speech::NoiseSource(3, 0).Fill(noise);
    models::FakeWorkerContext context;
    const auto decoding = decoder.Start({encoded.statistics, encoded.frames, noise, 0.5F, speaker});
    noise.clear();  // it may go
    noise.shrink_to_fit();
    const int64_t frames = static_cast<int64_t>(phonemes) * frames_each;
    std::vector<float> all;
    for (int64_t begin = 0; begin < frames;) {
      const auto samples = decoding->Generate(
          begin, chunk == 0 ? frames : chunk, [] { return false; }, context);
      if (!samples || samples->empty()) {
        ADD_FAILURE() << "no samples from frame " << begin << " on";
        break;
      }
      all.insert(all.end(), samples->begin(), samples->end());
      begin += static_cast<int64_t>(samples->size()) / hop_;
    }
    return all;
  }

 private:
  testing::TemporaryFolder folder_;
  int64_t hop_ = 1;
  std::unique_ptr<VitsEncoder> encoder_;
  std::unique_ptr<VitsDecoder> native_;
  std::unique_ptr<VitsDecoder> aten_;
};

void ExpectNear(const std::vector<float>& expected, const std::vector<float>& actual) {
  ASSERT_EQ(expected.size(), actual.size());
  float greatest = 0;
  float loudest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    greatest = std::max(greatest, std::abs(expected[i] - actual[i]));
    loudest = std::max(loudest, std::abs(expected[i]));
  }
  // Minimal filtering has several times the error of direct sums.
  EXPECT_LE(greatest, 2e-4F + 16 * kernels::GetConvKernels().product_error);
  EXPECT_GE(loudest, 0.05F);  // silence would be no test
}

struct Case {
  const char* name;
  TinyVits shape;
};

class VitsDecoderTest : public ::testing::TestWithParam<Case> {};

TEST_P(VitsDecoderTest, CpuEqualsAten) {
  const Voice voice(GetParam().shape);
  const int64_t last = std::max<int64_t>(GetParam().shape.speakers, 1) - 1;
  // From one frame to several chunks, with a last chunk of every kind.
  for (const auto& [phonemes, frames] : std::vector<std::pair<size_t, int64_t>>{
           {1, 1}, {3, 1}, {5, 3}, {16, 1}, {17, 1}, {96, 1}, {97, 1}, {30, 9}}) {
    ExpectNear(voice.Speak(voice.aten(), phonemes, frames, last),
               voice.Speak(voice.native(), phonemes, frames, last));
  }
}

TEST_P(VitsDecoderTest, ChunksJoinToTheSameBits) {
  const Voice voice(GetParam().shape);
  const int64_t last = std::max<int64_t>(GetParam().shape.speakers, 1) - 1;
  const std::vector<float> whole = voice.Speak(voice.native(), 30, 9, last);
  for (const int64_t chunk : {1, 7, 32, 95, 96, 200, 1000})
    EXPECT_EQ(voice.Speak(voice.native(), 30, 9, last, chunk), whole) << chunk;
  EXPECT_EQ(voice.Speak(voice.aten(), 30, 9, last, 32), voice.Speak(voice.aten(), 30, 9, last));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, VitsDecoderTest,
    ::testing::Values(
        Case{"Plain", {}}, Case{"Paired", {.paired = true}}, Case{"Speakers", {.speakers = 3}},
        Case{"ThreeStages", {.generator = 64, .strides = {8, 4, 2}}},
        Case{"OneStage", {.strides = {8}}},
        // The second coupling reads further beyond the ends than the first.
        Case{"FarCoupling", {.shapes = {{"flow.flows.4.enc.in_layers.0.weight", {48, 24, 31}}}}},
        Case{"WideBlocks", {.block_kernels = {3, 7, 11}, .block_dilations = {1, 3, 12}}},
        Case{"Large", {.hidden = 64, .latent = 96, .flow_hidden = 96, .generator = 128}}),
    [](const auto& info) { return info.param.name; });

// Stages with 128, 64 and 32 channels, of which the last is in float32, and a flow with both kinds
// of dilations.
const TinyVits kWide = {.flow_hidden = 40, .generator = 256, .strides = {4, 4, 2}};

TEST(CpuVitsDecoderTest, Int8IsNearFloat32) {
  const Voice exact(kWide);
  const Voice voice(kWide, kernels::Precision::kInt8);
  for (const auto& [phonemes, frames] :
       std::vector<std::pair<size_t, int64_t>>{{1, 1}, {17, 1}, {30, 9}}) {
    const std::vector<float> expected = exact.Speak(exact.native(), phonemes, frames, 0);
    const std::vector<float> actual = voice.Speak(voice.native(), phonemes, frames, 0);
    ASSERT_EQ(actual.size(), expected.size());
    double error = 0;
    double power = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      error += std::pow(double{actual[i]} - double{expected[i]}, 2);
      power += std::pow(double{expected[i]}, 2);
    }
    EXPECT_LE(std::sqrt(error / power), 0.05) << phonemes << " phonemes";
    EXPECT_GE(std::sqrt(error / power), 1e-4) << phonemes << " phonemes";  // it is in int8
  }
}

TEST(CpuVitsDecoderTest, ChunksInInt8JoinToTheSameBits) {
  for (const bool paired : {false, true}) {
    TinyVits shape = kWide;
    shape.paired = paired;
    const Voice voice(shape, kernels::Precision::kInt8);
    const std::vector<float> whole = voice.Speak(voice.native(), 30, 9, 0);
    for (const int64_t chunk : {1, 7, 32, 95, 96, 200, 1000})
      EXPECT_EQ(voice.Speak(voice.native(), 30, 9, 0, chunk), whole) << chunk;
    testing::ThreadsLoopRunner runner(4);
    const kernels::ScopedLoopRunner scope(&runner);
    EXPECT_EQ(voice.Speak(voice.native(), 30, 9, 0), whole);
  }
}

TEST(CpuVitsDecoderTest, SpeakersDiffer) {
  const Voice voice({.speakers = 2});
  EXPECT_NE(voice.Speak(voice.native(), 9, 2, 0), voice.Speak(voice.native(), 9, 2, 1));
}

TEST(CpuVitsDecoderTest, KeptWeightsGiveTheSameBits) {
  const Voice plain({});
  const std::vector<float> expected = plain.Speak(plain.native(), 9, 2, 0);
  const testing::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "packed.weights";
  for (const bool kept : {false, true}) {
    models::PackFile file(path, "tiny voice");
    EXPECT_EQ(std::filesystem::exists(path), kept);
    const kernels::ScopedPackStore scope(&file);
    const Voice voice({});
    EXPECT_EQ(voice.Speak(voice.native(), 9, 2, 0), expected);
    file.Commit();
  }
}

TEST(CpuVitsDecoderTest, ThreadsAtOnceGiveTheSameBits) {
  const Voice voice({});
  const std::vector<float> expected = voice.Speak(voice.native(), 40, 5, 0);
  constexpr int kThreads = 4;
  testing::AtOnce(kThreads, [&] {
    for (int round = 0; round < 5; ++round)
      EXPECT_EQ(voice.Speak(voice.native(), 40, 5, 0), expected);
  });
}

TEST(CpuVitsDecoderTest, StopsWithinAChunk) {
  const Voice voice({});
  const std::vector<float> noise(400 * 20);
  const at::InferenceMode inference;
  models::FakeWorkerContext context;
  int asked = 0;
  const auto samples =
      voice.native()
          .Start({at::zeros({1, 40, 400}), std::vector<int64_t>(400, 1), noise, 0, 0})
          ->Generate(
              0, 400, [&asked] { return ++asked == 3; }, context);
  EXPECT_FALSE(samples);
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace millrace::vits
