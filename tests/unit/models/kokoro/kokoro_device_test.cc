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
#include <fstream>
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
// Half precision may change the mel spectrum by so many decibels, which is far below what is heard.
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
  // Reads what make_kokoro_durations.py wrote: phonemes, a voice and frames of each sentence.
  static std::vector<std::vector<int64_t>> ReadSentences() {
    std::ifstream stream(MILLRACE_KOKORO_DURATIONS, std::ios::binary);
    std::vector<std::vector<int64_t>> sentences;
    const auto read = [&](auto& values) {
      int64_t count = 0;
      if (!stream.read(reinterpret_cast<char*>(&count), sizeof(count))) return false;
      values.resize(static_cast<size_t>(count));
      const size_t bytes = values.size() * sizeof(values.front());
      stream.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(bytes));
      return static_cast<bool>(stream);
    };
    std::vector<int64_t> phonemes, frames;
    for (std::vector<char> voice; read(phonemes) && read(voice) && read(frames);)
      sentences.push_back(phonemes);
    return sentences;
  }

  void TearDown() override {
    networks_.clear();
    if (backend_ != nullptr)
      backend_->UnbindThread({.device = runtime::DeviceType::kCuda, .slot = 1});
  }

  const KokoroDecoder& on_cpu() const { return *networks_[0].decoder; }
  const KokoroDecoder& exact() const { return *networks_[1].decoder; }
  const KokoroDecoder& on_device() const { return *networks_[2].decoder; }

  // Encodes sentences of the durations file on the CPU, and pads them to more frames than the
  // longest has.
  KokoroDecoder::PaddedInput Encode(const std::vector<size_t>& indices) {
    std::vector<KokoroBatch::Sentence> sentences;
    for (const size_t index : indices) {
      const std::vector<int64_t>& phonemes = sentences_[index];
      sentences.push_back({phonemes, networks_[0].styles[0].narrow(
                                         0, static_cast<int64_t>(phonemes.size()) - 3, 1)});
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

  // Returns the samples of one sentence up to its end.
  at::Tensor Heard(const KokoroDecoder::PaddedInput& input, const at::Tensor& samples,
                   int64_t row) const {
    const auto frames = static_cast<int64_t>(input.counts[row].item<float>());
    return samples[row].narrow(0, 0, frames * networks_[0].samples_per_frame);
  }

  static KokoroDecoder::PaddedInput OnDevice(const KokoroDecoder::PaddedInput& input) {
    return {input.features.cuda(), input.counts.cuda(), input.style.cuda(),
            input.noise_keys.cuda()};
  }

  const at::InferenceMode inference_;
  const std::vector<std::vector<int64_t>> sentences_ = ReadSentences();
  std::unique_ptr<runtime::Backend> backend_;
  std::vector<KokoroNetwork> networks_;  // on the CPU, exact on the device, and as it is served
};

// One sentence alone is computed in small tiles, and several of different lengths in large ones.
TEST_F(KokoroDeviceTest, SpectraAreThoseOfFloat32) {
  ASSERT_EQ(sentences_.size(), 50U);
  for (const std::vector<size_t>& indices :
       {std::vector<size_t>{0}, {1, 2, 3}, {4, 5, 6, 7, 8, 9, 10, 11}}) {
    const KokoroDecoder::PaddedInput input = OnDevice(Encode(indices));
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
      const size_t index = indices[static_cast<size_t>(row)];
      EXPECT_LE(mean, kMeanDecibels) << "sentence " << index;
      EXPECT_LE(greatest, kMaxDecibels) << "sentence " << index;
      std::printf("sentence %zu: %.4f dB on average, %.3f dB at most\n", index, mean, greatest);
    }
  }
}

TEST_F(KokoroDeviceTest, TheSameInputGivesTheSameBits) {
  const KokoroDecoder::PaddedInput input = OnDevice(Encode({12, 13}));
  const KokoroDecoder::Curves curves = on_device().PredictPadded(input);
  const auto decode = [&] {
    const at::Tensor samples = on_device().DecodePadded(input, curves).cpu();
    // Samples beyond an end are undefined.
    return std::vector<at::Tensor>{Heard(input, samples, 0), Heard(input, samples, 1)};
  };
  const std::vector<at::Tensor> first = decode();
  for (int i = 0; i < 3; ++i) {
    const std::vector<at::Tensor> again = decode();
    EXPECT_TRUE(first[0].equal(again[0]) && first[1].equal(again[1])) << i;
  }
}

}  // namespace
}  // namespace millrace::kokoro
