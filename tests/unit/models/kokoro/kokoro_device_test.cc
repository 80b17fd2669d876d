// The real weights on a CUDA device, as they are served, against float32 there, by the spectra of
// what is heard. Skipped where there is no such device.

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <vector>

#include "models/kokoro/fused_lstm.h"
#include "models/kokoro/kokoro_network.h"
#include "models/speech/device_noise.h"
#include "mps_runtime/backend.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/models_folder.h"
#include "tests/unit/models/speech/mel_decibels.h"

namespace millrace::kokoro {
namespace {

constexpr int kSampleRate = 24000;

std::filesystem::path Package() { return testing::ModelsFolder() / "kokoro-82m/1"; }

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
      const at::Tensor error =
          (speech::MelDecibels(expected[row].narrow(0, 0, samples), kSampleRate) -
           speech::MelDecibels(actual[row].narrow(0, 0, samples), kSampleRate))
              .abs();
      const double mean = error.mean().item<double>();
      const double greatest = error.max().item<double>();
      const size_t index = indices[static_cast<size_t>(row)];
      EXPECT_LE(mean, speech::kMeanDecibels) << "sentence " << index;
      EXPECT_LE(greatest, speech::kMaxDecibels) << "sentence " << index;
      std::printf("sentence %zu: %.4f dB on average, %.3f dB at most\n", index, mean, greatest);
    }
  }
}

// The phases sum the pitch, so it must be about as exact as in float32.
TEST_F(KokoroDeviceTest, CurvesAreThoseOfFloat32) {
  const KokoroDecoder::PaddedInput input = OnDevice(Encode({14, 15, 16, 17, 18}));
  const KokoroDecoder::Curves expected = exact().PredictPadded(input);
  const KokoroDecoder::Curves actual = on_device().PredictPadded(input);
  EXPECT_LT((expected.pitch - actual.pitch).abs().max().item<float>(), 0.01) << "hertz";
  EXPECT_LT((expected.loudness - actual.loudness).abs().max().item<float>(), 1e-3);
  std::printf("pitch: %g Hz, loudness: %g\n",
              (expected.pitch - actual.pitch).abs().max().item<double>(),
              (expected.loudness - actual.loudness).abs().max().item<double>());
}

// The LSTMs of the encoder decide where a length is rounded up or down.
TEST_F(KokoroDeviceTest, LengthsAreThoseOfTheCpu) {
  size_t phonemes = 0;
  size_t different = 0;
  for (size_t first = 0; first + 5 <= sentences_.size(); first += 5) {
    int64_t longest = 0;
    for (size_t i = first; i < first + 5; ++i)
      longest = std::max(longest, static_cast<int64_t>(sentences_[i].size()));
    KokoroEncoder::PaddedInput input{at::zeros({5, longest + 3}, at::kLong), at::ones({5, 1, 1}),
                                     at::zeros({5, on_cpu().style_channels()})};
    for (int64_t row = 0; row < 5; ++row) {
      const std::vector<int64_t>& ids = sentences_[first + static_cast<size_t>(row)];
      const auto count = static_cast<int64_t>(ids.size());
      std::copy(ids.begin(), ids.end(),
                input.phonemes.mutable_data_ptr<int64_t>() + row * (longest + 3));
      input.counts[row].fill_(static_cast<double>(count));
      input.style[row].copy_(networks_[0].styles[0][count - 3].flatten().narrow(
          0, on_cpu().style_channels(), on_cpu().style_channels()));
    }
    const auto expected = networks_[0].encoder->ForwardPadded(input);
    const auto actual = networks_[2].encoder->ForwardPadded(
        {input.phonemes.cuda(), input.counts.cuda(), input.style.cuda()});
    for (int64_t row = 0; row < 5; ++row) {
      const auto count = static_cast<int64_t>(sentences_[first + static_cast<size_t>(row)].size());
      const at::Tensor differs = expected.lengths[row].narrow(0, 0, count) !=
                                 actual.lengths[row].narrow(0, 0, count).cpu();
      phonemes += static_cast<size_t>(count);
      different += static_cast<size_t>(differs.sum().item<int64_t>());
    }
  }
  EXPECT_EQ(different, 0U) << "of " << phonemes;
}

// With weights that keep the state large, and sentences of different lengths.
TEST_F(KokoroDeviceTest, AnLstmIsThatOfTheCpu) {
  constexpr int64_t kHidden = 256;
  constexpr int64_t kIn = 96;
  constexpr int64_t kTime = 37;
  at::manual_seed(1);
  std::vector<at::Tensor> parameters, on_device;
  for (int direction = 0; direction < 2; ++direction) {
    parameters.push_back(at::randn({4 * kHidden, kIn}) * 0.2);
    parameters.push_back(at::randn({4 * kHidden, kHidden}) * 0.1);
    parameters.push_back(at::randn({4 * kHidden}));
    parameters.push_back(at::randn({4 * kHidden}));
  }
  for (const at::Tensor& parameter : parameters) on_device.push_back(parameter.cuda());
  const auto fused = FusedLstm::Make(on_device);
  if (!fused) GTEST_SKIP() << "the device has no such kernel";
  for (const std::vector<float>& counts :
       {std::vector<float>{37}, {11}, {37, 1, 20}, {5, 6, 7, 8, 9, 37, 2, 30, 36}}) {
    const auto batch = static_cast<int64_t>(counts.size());
    const at::Tensor x = at::randn({batch, kTime, kIn});
    at::Tensor of_counts = at::ones({batch, 1, 1});
    for (int64_t row = 0; row < batch; ++row)
      of_counts[row].fill_(counts[static_cast<size_t>(row)]);
    const at::Tensor actual = fused->Run(x.cuda(), KokoroExtent::Of(of_counts.cuda(), kTime)).cpu();
    for (int64_t row = 0; row < batch; ++row) {
      const auto count = static_cast<int64_t>(counts[static_cast<size_t>(row)]);
      const at::Tensor zeros = at::zeros({2, 1, kHidden});
      const at::Tensor expected = std::get<0>(
          at::lstm(x.narrow(0, row, 1).narrow(1, 0, count), {zeros, zeros}, parameters,
                   /*has_biases=*/true, /*num_layers=*/1, /*dropout=*/0, /*train=*/false,
                   /*bidirectional=*/true, /*batch_first=*/true));
      EXPECT_LT((actual[row].narrow(0, 0, count) - expected[0]).abs().max().item<float>(), 1e-5)
          << "row " << row << " of " << batch;
      EXPECT_TRUE(actual[row].narrow(0, count, kTime - count).eq(0).all().item<bool>());
    }
  }
}

TEST_F(KokoroDeviceTest, NoiseIsThatOfTheCpu) {
  at::Tensor keys = at::zeros({3, 4}, at::kLong);
  keys[0].copy_(speech::NoiseKey(7, 1));
  keys[1].copy_(speech::NoiseKey(uint64_t{1} << 40, 0));
  keys[2].copy_(speech::NoiseKey(~uint64_t{0}, ~uint64_t{0}));
  const at::Tensor expected = speech::DrawNoise(keys, 100'001);
  const at::Tensor actual = speech::DrawNoise(keys.cuda(), 100'001).cpu();
  EXPECT_LT((expected - actual).abs().max().item<float>(), 1e-5);
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
