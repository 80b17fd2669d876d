// The real weights on a CUDA device, as they are served, against float32 there, by the spectra of
// what is heard. Skipped where there is no such device.

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/hann_window.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stft.h>
#include <ATen/ops/view_as_real.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/kokoro/kokoro_network.h"
#include "models/speech/device_noise.h"
#include "mps_runtime/backend.h"
#include "tests/fakes/fake_worker_context.h"

namespace millrace::kokoro {
namespace {

constexpr int kSampleRate = 24000;
// What half precision may change of the mel spectrum in decibels, which is far below what is heard.
constexpr double kMeanDecibels = 0.05;
constexpr double kMaxDecibels = 1.5;

std::filesystem::path Package() {
  const char* folder = std::getenv("MILLRACE_MODELS");
  return std::filesystem::path(folder != nullptr ? folder : MILLRACE_SOURCE_DIR "/var/models") /
         "kokoro-82m/1";
}

double ToMel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double ToHertz(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

// Returns the powers of 80 mel bands in decibels, not below -80: [bands, time].
at::Tensor MelDecibels(const at::Tensor& samples) {
  constexpr int64_t kFft = 1024;
  constexpr int64_t kBands = 80;
  const at::Tensor spectrum =
      at::view_as_real(at::stft(samples, kFft, /*hop_length=*/256, kFft, at::hann_window(kFft),
                                /*normalized=*/false, /*onesided=*/true, /*return_complex=*/true))
          .square()
          .sum(-1);
  const at::Tensor bands = at::zeros({kBands, kFft / 2 + 1});
  const double step = ToMel(kSampleRate / 2.0) / (kBands + 1);
  for (int64_t band = 0; band < kBands; ++band) {
    const double low = ToHertz(step * static_cast<double>(band));
    const double middle = ToHertz(step * static_cast<double>(band + 1));
    const double high = ToHertz(step * static_cast<double>(band + 2));
    float* const row = bands.mutable_data_ptr<float>() + band * bands.size(1);
    for (int64_t bin = 0; bin <= kFft / 2; ++bin) {
      const double hertz = kSampleRate * static_cast<double>(bin) / kFft;
      const double height =
          std::min((hertz - low) / (middle - low), (high - hertz) / (high - middle));
      row[bin] = static_cast<float>(std::max(height, 0.0));
    }
  }
  return 10 * at::matmul(bands, spectrum).clamp_min(1e-8).log10();
}

class KokoroDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      backend_ = runtime::MakeBackend(runtime::DeviceType::kCuda);
    } catch (const std::invalid_argument& error) {
      GTEST_SKIP() << error.what();
    }
    backend_->Bootstrap();
    backend_->BindThread({.device = runtime::DeviceType::kCuda, .slot = 1}, 1);
    const auto load = [&](runtime::DeviceType device, bool exact) {
      auto network = KokoroNetwork::Read({.weights_file = Package() / "model.safetensors",
                                          .voices = {"jf_alpha"},
                                          .sample_rate = kSampleRate,
                                          .device = device,
                                          .padded = true,
                                          .exact = exact,
                                          .name = "kokoro/1"});
      ASSERT_TRUE(network.ok()) << network.status();
      networks_.push_back(*std::move(network));
    };
    load(runtime::DeviceType::kCpu, /*exact=*/true);  // encodes
    load(runtime::DeviceType::kCuda, /*exact=*/true);
    load(runtime::DeviceType::kCuda, /*exact=*/false);
    ASSERT_EQ(networks_.size(), 3U);
  }
  void TearDown() override {
    networks_.clear();
    if (backend_ != nullptr)
      backend_->UnbindThread({.device = runtime::DeviceType::kCuda, .slot = 1});
  }

  const KokoroDecoder& on_cpu() const { return *networks_[0].decoder; }
  const KokoroDecoder& exact() const { return *networks_[1].decoder; }
  const KokoroDecoder& on_device() const { return *networks_[2].decoder; }

  // Encodes made-up sentences of these numbers of phonemes on the CPU, and pads them to more frames
  // than the longest has.
  KokoroDecoder::PaddedInput Encode(const std::vector<size_t>& phonemes) {
    std::vector<std::vector<int64_t>> ids;
    std::vector<KokoroBatch::Sentence> sentences;
    for (const size_t count : phonemes) {
      std::vector<int64_t>& sentence = ids.emplace_back(count);
      // Letters of the phonemes that the vocabulary has, with a space after each fifth.
      for (size_t i = 1; i + 1 < count; ++i)
        sentence[i] = i % 6 == 0 ? 16 : static_cast<int64_t>(43 + (i * i + count) % 26);
    }
    for (const std::vector<int64_t>& sentence : ids) {
      sentences.push_back({sentence, networks_[0].styles[0].narrow(
                                         0, static_cast<int64_t>(sentence.size()) - 3, 1)});
    }
    models::FakeWorkerContext context;
    const auto encoded = networks_[0].batch->Encode(sentences, context);
    const auto rows = static_cast<int64_t>(sentences.size());
    std::vector<int64_t> frames;
    for (const auto& one : encoded) {
      int64_t sum = 0;
      for (const int64_t count : one.frames) sum += count;
      frames.push_back(sum);
    }
    const int64_t padded = *std::max_element(frames.begin(), frames.end()) * 9 / 8;
    KokoroDecoder::PaddedInput input;
    input.features = at::zeros({rows, padded, encoded[0].features.size(1)});
    input.counts = at::ones({rows, 1, 1});
    input.style = at::zeros({rows, 2 * on_cpu().style_channels()});
    input.noise_keys = at::zeros({rows, 4}, at::kLong);
    for (int64_t row = 0; row < rows; ++row) {
      const KokoroBatch::Encoded& one = encoded[static_cast<size_t>(row)];
      int64_t frame = 0;
      for (size_t i = 0; i < one.frames.size(); ++i) {
        input.features[row]
            .narrow(0, frame, one.frames[i])
            .copy_(one.features[static_cast<int64_t>(i)].unsqueeze(0));
        frame += one.frames[i];
      }
      input.counts[row].fill_(static_cast<float>(frame));
      input.style.narrow(0, row, 1).copy_(sentences[static_cast<size_t>(row)].style);
      input.noise_keys[row].copy_(speech::NoiseKey(7, static_cast<uint64_t>(row)));
    }
    return input;
  }

  static KokoroDecoder::PaddedInput OnDevice(const KokoroDecoder::PaddedInput& input) {
    return {input.features.cuda(), input.counts.cuda(), input.style.cuda(),
            input.noise_keys.cuda()};
  }

  const at::InferenceMode inference_;
  std::unique_ptr<runtime::Backend> backend_;
  std::vector<KokoroNetwork> networks_;  // on the CPU, exact on the device, and as it is served
};

// One sentence alone is computed in small tiles, and three of very different lengths in large ones.
TEST_F(KokoroDeviceTest, SpectraAreThoseOfFloat32) {
  for (const std::vector<size_t>& phonemes :
       {std::vector<size_t>{40}, std::vector<size_t>{200, 90, 12}}) {
    const KokoroDecoder::PaddedInput input = OnDevice(Encode(phonemes));
    // A pitch or a sum of it that differs in its last bit moves the phases, so both get the same,
    // and both sum on the device.
    const KokoroDecoder::Curves curves = exact().PredictPadded(input);
    const at::Tensor expected = exact().DecodePadded(input, curves).cpu();
    const at::Tensor actual = on_device().DecodePadded(input, curves).cpu();
    for (int64_t row = 0; row < expected.size(0); ++row) {
      const auto samples =
          static_cast<int64_t>(input.counts[row].item<float>()) * networks_[0].samples_per_frame;
      const at::Tensor error = (MelDecibels(expected[row].narrow(0, 0, samples)) -
                                MelDecibels(actual[row].narrow(0, 0, samples)))
                                   .abs();
      const double mean = error.mean().item<double>();
      const double greatest = error.max().item<double>();
      EXPECT_LE(mean, kMeanDecibels) << phonemes[static_cast<size_t>(row)] << " phonemes";
      EXPECT_LE(greatest, kMaxDecibels) << phonemes[static_cast<size_t>(row)] << " phonemes";
      std::printf("%zu phonemes: %.4f dB on average, %.3f dB at most\n",
                  phonemes[static_cast<size_t>(row)], mean, greatest);
    }
  }
}

TEST_F(KokoroDeviceTest, TheSameInputGivesTheSameBits) {
  const KokoroDecoder::PaddedInput input = OnDevice(Encode({150, 40}));
  const KokoroDecoder::Curves curves = on_device().PredictPadded(input);
  const at::Tensor first = on_device().DecodePadded(input, curves).cpu();
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(first.equal(on_device().DecodePadded(input, curves).cpu())) << i;
}

}  // namespace
}  // namespace millrace::kokoro
