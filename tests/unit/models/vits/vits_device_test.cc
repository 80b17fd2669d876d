// The real voice in batches on a CUDA device against one sentence at a time on the CPU in float32.
// Skipped where there is no such device.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "mps_runtime/backend.h"
#include "mps_runtime/tensor_device.h"
#include "tests/fakes/models_folder.h"
#include "tests/unit/models/speech/mel_decibels.h"
#include "tests/unit/models/vits/batch_comparison.h"

namespace millrace::vits {
namespace {

// Samples may differ from those of the CPU, in float32, by so much.
constexpr float kDeviceTolerance = 2e-2F;

std::filesystem::path RealWeights() {
  return testing::ModelsFolder() / "piper-en-us-joe/1/model.safetensors";
}

class VitsDeviceTest : public ::testing::Test {
 protected:
  static constexpr runtime::Stream kStream = {.device = runtime::DeviceType::kCuda, .slot = 1};

  void SetUp() override {
    try {
      backend_ = runtime::MakeBackend(runtime::DeviceType::kCuda);
    } catch (const std::invalid_argument& error) {
      GTEST_SKIP() << error.what();
    }
    backend_->Bootstrap();
    backend_->BindThread(kStream, 1);
    voice_ = std::make_unique<BatchComparison>(RealWeights(),
                                               runtime::TensorDevice(runtime::DeviceType::kCuda));
  }
  void TearDown() override {
    voice_.reset();
    if (backend_ != nullptr) backend_->UnbindThread(kStream);
  }

  void ExpectEqualSpectra(runtime::WorkerContext& context) const {
    constexpr int kSampleRate = 22050;
    const BatchComparison::Spoken alone = voice_->Alone();
    const BatchComparison::Spoken together = voice_->Together(context);
    const auto spectrum = [](const std::vector<float>& samples) {
      return speech::MelDecibels(at::tensor(samples), kSampleRate);
    };
    for (size_t i = 0; i < alone.samples.size(); ++i) {
      if (alone.samples[i].size() < kSampleRate / 10) continue;  // too short for a spectrum
      const at::Tensor error = (spectrum(alone.samples[i]) - spectrum(together.samples[i])).abs();
      const double mean = error.mean().item<double>();
      const double greatest = error.max().item<double>();
      EXPECT_LE(mean, speech::kMeanDecibels) << "sentence " << i;
      EXPECT_LE(greatest, speech::kMaxDecibels) << "sentence " << i;
      std::printf("sentence %zu: %.4f dB on average, %.3f dB at most\n", i, mean, greatest);
    }
  }

  const at::InferenceMode inference_;
  std::unique_ptr<runtime::Backend> backend_;
  std::unique_ptr<BatchComparison> voice_;
};

// A context of a worker on the device.
class DeviceContext final : public runtime::WorkerContext {
 public:
  DeviceContext(runtime::Backend& backend, runtime::Stream stream)
      : backend_(backend), stream_(stream) {}
  runtime::Stream stream() const override { return stream_; }
  runtime::GraphCache& graph_cache() override { return cache_; }
  void Synchronize() override { backend_.Synchronize(stream_); }
  std::unique_ptr<runtime::DeviceGraph> Capture(const std::function<void()>& submit) override {
    return backend_.Capture(stream_, submit);
  }

 private:
  runtime::Backend& backend_;
  const runtime::Stream stream_;
  runtime::GraphCache cache_{runtime::GraphCache::Limits{}};
};

TEST_F(VitsDeviceTest, SpeaksSentencesTogetherAsTheProcessorAlone) {
  for (const size_t phonemes : {20, 3, 148, 20, 1, 33, 7, 100, 64, 12, 5, 31, 32, 2, 290, 20, 17})
    voice_->Add(phonemes);
  DeviceContext context(*backend_, kStream);
  // Eager, eager and recorded, replayed.
  for (int round = 0; round < 3; ++round) voice_->ExpectEqual(context, kDeviceTolerance);
  ExpectEqualSpectra(context);
  EXPECT_GT(context.graph_cache().stats().hits, 0U);
}

TEST_F(VitsDeviceTest, SpeaksASentenceAlone) {
  voice_->Add(77);
  DeviceContext context(*backend_, kStream);
  voice_->ExpectEqual(context, kDeviceTolerance);
  ExpectEqualSpectra(context);
}

}  // namespace
}  // namespace millrace::vits
