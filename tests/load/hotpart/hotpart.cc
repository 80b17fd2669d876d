// Runs the hot part of a voice alone, as the daemon does it, on inputs from files:
//   millrace_hotpart kokoro|vits <package folder>
// Reads lines "<frames> <threads> <input file> <output file or ->" and answers each with the
// seconds on the clock and of the processor. tests/load/peers/formats.py describes the inputs and
// answers the same lines with other formats of the same network.

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/kokoro/kokoro_decoder.h"
#include "models/kokoro/kokoro_encoder.h"
#include "models/kokoro/kokoro_weights.h"
#include "models/vits/cpu_vits_decoder.h"
#include "models/vits/vits_weights.h"
#include "tests/fakes/fake_worker_context.h"

namespace millrace::models {
namespace {

constexpr int kKokoroRate = 24000;

// Floats of a file, handed out in order.
class Input {
 public:
  explicit Input(const std::string& path) {
    std::ifstream stream(path, std::ios::binary | std::ios::ate);
    floats_.resize(static_cast<size_t>(stream.tellg()) / sizeof(float));
    stream.seekg(0);
    stream.read(reinterpret_cast<char*>(floats_.data()),
                static_cast<std::streamsize>(floats_.size() * sizeof(float)));
    if (!stream) throw std::runtime_error("cannot read " + path);
  }

  int64_t left() const { return static_cast<int64_t>(floats_.size() - taken_); }
  std::span<const float> Take(int64_t count) {
    if (count < 0 || count > left()) throw std::runtime_error("the input is too short");
    taken_ += static_cast<size_t>(count);
    return {floats_.data() + taken_ - static_cast<size_t>(count), static_cast<size_t>(count)};
  }
  at::Tensor Take(const std::vector<int64_t>& shape) {
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    return at::from_blob(const_cast<float*>(Take(count).data()), shape, at::kFloat);
  }

 private:
  std::vector<float> floats_;
  size_t taken_ = 0;
};

class HotPart {
 public:
  virtual ~HotPart() = default;
  virtual std::vector<float> Run(Input& input, int64_t frames) = 0;
};

// From the decoder's inputs on; style [256], text [channels][frames], pitch and loudness
// [2 * frames], noise [samples][sines].
class Kokoro final : public HotPart {
 public:
  explicit Kokoro(kokoro::KokoroWeights weights)
      : decoder_(weights, kKokoroRate), samples_per_frame_(weights.shape().samples_per_frame()) {
    if (!weights.status().ok()) throw std::runtime_error(weights.status().ToString());
  }

  std::vector<float> Run(Input& input, int64_t frames) override {
    const at::Tensor style = input.Take({1, 2 * decoder_.style_channels()});
    const int64_t noise = frames * samples_per_frame_ * decoder_.noise_per_sample();
    const int64_t channels = (input.left() - noise - 4 * frames) / frames;
    kokoro::KokoroEncoder::Output encoded;
    encoded.text = input.Take({1, channels, frames});
    encoded.frames.assign(static_cast<size_t>(frames), 1);
    kokoro::KokoroDecoder::Curves curves;
    curves.pitch = input.Take({1, 1, 2 * frames});
    curves.loudness = input.Take({1, 1, 2 * frames});
    const std::span<const float> drawn = input.Take(noise);
    return *decoder_.Decode(encoded, curves, style, {drawn.begin(), drawn.end()},
                            [] { return false; });
  }

 private:
  const kokoro::KokoroDecoder decoder_;
  const int64_t samples_per_frame_;
};

// The inverse flow and the generator, on latents [channels][frames].
class Vits final : public HotPart {
 public:
  explicit Vits(vits::VitsWeights weights)
      : latent_(weights.Take("enc_p.proj.weight", {-1, -1, 1}).size(0) / 2),
        decoder_(weights, latent_) {
    if (!weights.status().ok()) throw std::runtime_error(weights.status().ToString());
  }

  std::vector<float> Run(Input& input, int64_t frames) override {
    vits::VitsDecoder::Input latents;
    latents.statistics = at::zeros({1, 2 * latent_, frames});
    latents.statistics.narrow(1, 0, latent_).copy_(input.Take({1, latent_, frames}));
    latents.frames.assign(static_cast<size_t>(frames), 1);
    const std::vector<float> noise(static_cast<size_t>(frames * latent_));
    latents.noise = noise;
    return *decoder_.Start(latents)->Generate(
        0, frames, [] { return false; }, context_);
  }

 private:
  const int64_t latent_;
  const vits::CpuVitsDecoder decoder_;
  FakeWorkerContext context_;
};

std::unique_ptr<HotPart> Load(const std::string& voice, const std::string& package) {
  const std::string file = package + "/model.safetensors";
  if (voice == "kokoro") {
    auto weights = kokoro::KokoroWeights::Open(file, at::kCPU);
    if (!weights.ok()) throw std::runtime_error(weights.status().ToString());
    return std::make_unique<Kokoro>(*std::move(weights));
  }
  if (voice == "vits") {
    auto weights = vits::VitsWeights::Open(file, at::kCPU);
    if (!weights.ok()) throw std::runtime_error(weights.status().ToString());
    return std::make_unique<Vits>(*std::move(weights));
  }
  throw std::runtime_error("expected kokoro or vits, not " + voice);
}

void Serve(HotPart& part) {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    int64_t frames = 0;
    int threads = 0;
    std::string from, to;
    if (!(words >> frames >> threads >> from >> to) || frames < 1 || threads < 1)
      throw std::runtime_error("expected <frames> <threads> <input> <output>, not " + line);
    at::set_num_threads(threads);
    Input input(from);
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t cpu = std::clock();
    const std::vector<float> samples = part.Run(input, frames);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    const double cpu_seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
    if (to != "-") {
      std::ofstream(to, std::ios::binary)
          .write(reinterpret_cast<const char*>(samples.data()),
                 static_cast<std::streamsize>(samples.size() * sizeof(float)));
    }
    std::cout << seconds.count() << ' ' << cpu_seconds << std::endl;
  }
}

}  // namespace
}  // namespace millrace::models

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: millrace_hotpart kokoro|vits <package folder>\n";
    return 2;
  }
  try {
    const at::InferenceMode inference;
    millrace::models::Serve(*millrace::models::Load(argv[1], argv[2]));
  } catch (const std::exception& error) {
    std::cerr << "millrace_hotpart: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
