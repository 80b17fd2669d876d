// Measures the time that Kokoro takes for a sentence on one thread, by phase, and the decoder in
// float32 and int8 in turn: kokoro_bench <package folder> <file of phonemes> [line [repeats]] in
// processor time, which other processes change less than wall time.

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include "models/kokoro/kokoro_decoder.h"
#include "models/kokoro/kokoro_encoder.h"
#include "models/kokoro/kokoro_settings.h"
#include "models/kokoro/kokoro_weights.h"
#include "models/speech/noise.h"

namespace millrace::kokoro {
namespace {

double ProcessorSeconds() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

int Fail(const std::string& message) {
  std::cerr << message << "\n";
  return 1;
}

int Run(const std::string& package, const std::string& file, int line, int repeats) {
  at::set_num_threads(1);
  const at::InferenceMode inference;
  const auto settings = KokoroSettings::Read(package + "/kokoro.json");
  if (!settings.ok()) return Fail(settings.status().ToString());
  auto weights = KokoroWeights::Open(package + "/model.safetensors", at::kCPU);
  if (!weights.ok()) return Fail(weights.status().ToString());
  const KokoroEncoder encoder(*weights);
  const KokoroDecoder decoder(*weights, settings->sample_rate);
  const KokoroDecoder int8_decoder(*weights, settings->sample_rate, /*padded=*/false,
                                   /*exact=*/false, kernels::Precision::kInt8);
  const at::Tensor voice = weights->Take("voices." + settings->voices.front(), {-1, -1});
  if (!weights->status().ok()) return Fail(weights->status().ToString());
  std::ifstream stream(file);
  std::string phonemes;
  for (int i = 0; i <= line; ++i) {
    if (!std::getline(stream, phonemes)) return Fail(file + " has no such line");
  }
  std::vector<int64_t> ids = settings->ToIds(phonemes).ids;
  if (ids.empty()) return Fail("the line has no phoneme that the model knows");
  const at::Tensor style = voice.narrow(0, static_cast<int64_t>(ids.size()) - 1, 1);
  const int64_t half = decoder.style_channels();
  ids.insert(ids.begin(), 0);
  ids.push_back(0);
  for (int i = 0; i < repeats; ++i) {
    const double begin = ProcessorSeconds();
    const auto encoded = encoder.Forward(ids, style.narrow(1, half, half));
    const double durations = ProcessorSeconds();
    const auto curves = decoder.Predict(encoded, style);
    const double predicted = ProcessorSeconds();
    const int64_t frames =
        std::accumulate(encoded.frames.begin(), encoded.frames.end(), int64_t{0});
    std::vector<float> noise(static_cast<size_t>(frames * weights->shape().samples_per_frame() *
                                                 decoder.noise_per_sample()));
    speech::NoiseSource(0, 0).Fill(noise);
    const double drawn = ProcessorSeconds();
    const auto samples = decoder.Decode(encoded, curves, style, noise, [] { return false; });
    const double end = ProcessorSeconds();
    int8_decoder.Decode(encoded, curves, style, noise, [] { return false; });
    const double int8_end = ProcessorSeconds();
    const double audio =
        static_cast<double>(samples->size()) / static_cast<double>(settings->sample_rate);
    std::printf(
        "%zu phonemes, %.2f s of audio: encoder %.3f, curves %.3f, noise %.3f, decoder "
        "%.3f s, in int8 %.3f s; real-time factor %.3f, with int8 %.3f, %.2f times as fast\n",
        ids.size(), audio, durations - begin, predicted - durations, drawn - predicted, end - drawn,
        int8_end - end, (end - begin) / audio, (int8_end - end + drawn - begin) / audio,
        (end - begin) / (int8_end - end + drawn - begin));
  }
  return 0;
}

}  // namespace
}  // namespace millrace::kokoro

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: kokoro_bench <package folder> <file of phonemes> [line [repeats]]\n";
    return 2;
  }
  return millrace::kokoro::Run(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 0,
                               argc > 4 ? std::atoi(argv[4]) : 3);
}
