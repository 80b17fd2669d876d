// Speed of the convolutions that take most of the time of Kokoro and Piper, for each instruction
// set that MILLRACE_CPU_ISA allows, on one thread, in float32 and int8: billions of operations per
// second, and their share of what the processor reaches with nothing but multiplications and
// additions on registers, fused where it can. Both are measured alternately in processor time and
// their medians taken, so that other processes and changes of the clock rate do little harm. With
// int8, `of_float` is the speed relative to that of the best float32 kernels, and `error` the root
// mean square of what they differ by, relative to that of the results.
//
// usage: conv_kernels_bench [--benchmark_filter=...]

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "models/kernels/aligned_buffer.h"
#include "models/kernels/channel_rows.h"
#include "models/kernels/conv_kernels.h"
#include "models/kernels/packed_narrow.h"
#include "tests/benchmarks/bench_peak.inl"

namespace millrace::kernels {
namespace {

struct Shape {
  const char* name;
  int64_t in_channels;
  int64_t out_channels;
  int64_t taps;
  int64_t dilation;
  int64_t rows;  // the rows of a call
  bool gate = false;
};

// A call of Kokoro's generator has as many rows as CpuSnakeBlock cuts off, and one of Piper's those
// of some frames. Dilations 1 and 3 of Kokoro are between those here.
constexpr Shape kShapes[] = {
    {"kokoro/256x256/taps:3/dilation:1", 256, 256, 3, 1, 384},
    {"kokoro/256x256/taps:7/dilation:1", 256, 256, 7, 1, 384},
    {"kokoro/256x256/taps:7/dilation:5", 256, 256, 7, 5, 384},
    {"kokoro/256x256/taps:11/dilation:1", 256, 256, 11, 1, 384},
    {"kokoro/256x256/taps:11/dilation:5", 256, 256, 11, 5, 384},
    {"kokoro/128x128/taps:3/dilation:1", 128, 128, 3, 1, 768},
    {"kokoro/128x128/taps:3/dilation:5", 128, 128, 3, 5, 768},
    {"kokoro/128x128/taps:7/dilation:1", 128, 128, 7, 1, 768},
    {"kokoro/128x128/taps:7/dilation:5", 128, 128, 7, 5, 768},
    {"kokoro/128x128/taps:11/dilation:1", 128, 128, 11, 1, 768},
    {"kokoro/128x128/taps:11/dilation:5", 128, 128, 11, 5, 768},
    {"kokoro/1090x1024/taps:3/dilation:1", 1090, 1024, 3, 1, 268},
    {"kokoro/1024x1024/taps:3/dilation:1", 1024, 1024, 3, 1, 268},
    {"piper/flow/192x384/taps:5", 192, 384, 5, 1, 300, true},
    {"piper/flow/192x192/taps:1", 192, 192, 1, 1, 300},
    {"piper/up/256x1024/taps:2", 256, 1024, 2, 1, 106},
    {"piper/up/128x512/taps:2", 128, 512, 2, 1, 146},
    {"piper/up/64x128/taps:2", 64, 128, 2, 1, 1038},
    {"piper/128x128/taps:3/dilation:2", 128, 128, 3, 2, 800},
    {"piper/128x128/taps:5/dilation:6", 128, 128, 5, 6, 800},
    {"piper/128x128/taps:7/dilation:12", 128, 128, 7, 12, 800},
    {"piper/64x64/taps:3/dilation:2", 64, 64, 3, 2, 1080},
    {"piper/64x64/taps:5/dilation:6", 64, 64, 5, 6, 1080},
    {"piper/64x64/taps:7/dilation:12", 64, 64, 7, 12, 1080},
    {"piper/32x32/taps:3/dilation:2", 32, 32, 3, 2, 4100},
    {"piper/32x32/taps:5/dilation:6", 32, 32, 5, 6, 4100},
    {"piper/32x32/taps:7/dilation:12", 32, 32, 7, 12, 4100},
};

// A task of a shape, with memory of its own.
struct Problem {
  Problem(const ConvKernels& kernels, const Shape& shape, bool winograd)
      : input(
            Random((shape.rows + (shape.taps - 1) * shape.dilation) * RowPitch(shape.in_channels))),
        weights(Random(shape.out_channels * shape.taps * shape.in_channels)),
        bias(Random(shape.out_channels)),
        output(static_cast<size_t>(shape.rows * shape.out_channels)) {
    task.rows = shape.rows;
    task.input_pitch = RowPitch(shape.in_channels);
    task.output_pitch = shape.out_channels;
    task.taps = shape.taps;
    task.dilation = shape.dilation;
    task.in_channels = shape.in_channels;
    task.winograd = winograd;
    task.blocks = shape.out_channels / kChannelBlock;
    packed = AlignedBuffer<float>(static_cast<size_t>(kernels.packed_size(task)));
    task.input = input.data();
    task.bias = bias.data();
    task.weights = weights.data();
    kernels.pack(task, packed.data());
    task.weights = packed.data();
    task.raw = output.data();
    task.gate = shape.gate;
  }

  AlignedBuffer<float> input, weights, bias, output, packed;
  ConvTask task;
};

double Operations(const Shape& shape) {
  return static_cast<double>(2 * shape.rows * shape.in_channels * shape.out_channels * shape.taps);
}

void BM_Convolve(benchmark::State& state, const ConvKernels& kernels, const Shape& shape,
                 bool winograd) {
  const Problem problem(kernels, shape, winograd);
  const ConvTask& task = problem.task;
  const double operations = Operations(shape);
  int64_t (*const peak)() = PeakOf(kernels.target);
  std::vector<double> speeds;
  std::vector<double> peaks;
  for (auto _ : state) {
    const double begin = ThreadSeconds();
    kernels.convolve(task);
    const double end = ThreadSeconds();
    state.SetIterationTime(end - begin);
    speeds.push_back(operations / (end - begin));
    if (peak == nullptr) continue;
    const double peak_begin = ThreadSeconds();
    const auto peak_operations = static_cast<double>(peak());
    peaks.push_back(peak_operations / (ThreadSeconds() - peak_begin));
  }
  state.counters["GFLOPS"] = Median(speeds) / 1e9;
  if (!peaks.empty()) {
    state.counters["peak"] = Median(peaks) / 1e9;
    state.counters["share"] = Median(speeds) / Median(peaks);
  }
}

// The weights in the order of a file, [out][tap][in].
std::vector<float> InOrderOfFile(const Shape& shape, const AlignedBuffer<float>& weights) {
  std::vector<float> rows(weights.size());
  const int64_t depth = shape.taps * shape.in_channels;
  for (int64_t o = 0; o < shape.out_channels; ++o) {
    for (int64_t i = 0; i < depth; ++i) {
      rows[static_cast<size_t>(o * depth + i)] = weights[static_cast<size_t>(
          (o / kChannelBlock * depth + i) * kChannelBlock + o % kChannelBlock)];
    }
  }
  return rows;
}

void BM_ConvolveInt8(benchmark::State& state, const NarrowKernels& kernels, const Shape& shape) {
  const ConvKernels& floats = GetConvKernels();
  const Problem problem(floats, shape, /*winograd=*/true);
  const ConvTask& task = problem.task;
  const std::vector<float> weights = InOrderOfFile(shape, problem.weights);
  const FloatLinear linear = {{weights.data(), shape.out_channels, shape.taps * shape.in_channels},
                              {problem.bias.data(), static_cast<size_t>(shape.out_channels)}};
  const PackedNarrow packed(std::span(&linear, 1), Precision::kInt8, kernels.clips_pairs,
                            {shape.taps, shape.dilation});
  AlignedBuffer<float> output(problem.output.size());
  const ConvTask narrow = {.input = task.input,
                           .rows = task.rows,
                           .input_pitch = task.input_pitch,
                           .output_pitch = shape.out_channels,
                           .raw = output.data()};
  Scratch scratch;
  const double operations = Operations(shape);
  int64_t (*const peak)() = Int8PeakOf(kernels.target);
  std::vector<double> speeds, float_speeds, peaks;
  for (auto _ : state) {
    const double begin = ThreadSeconds();
    packed.Convolve(kernels, narrow, scratch);
    const double end = ThreadSeconds();
    state.SetIterationTime(end - begin);
    speeds.push_back(operations / (end - begin));
    const double float_begin = ThreadSeconds();
    floats.convolve(task);
    float_speeds.push_back(operations / (ThreadSeconds() - float_begin));
    if (peak == nullptr) continue;
    const double peak_begin = ThreadSeconds();
    const auto peak_operations = static_cast<double>(peak());
    peaks.push_back(peak_operations / (ThreadSeconds() - peak_begin));
  }
  double error = 0;
  double power = 0;
  for (size_t i = 0; i < output.size(); ++i) {
    error += std::pow(double{output[i]} - double{problem.output[i]}, 2);
    power += std::pow(double{problem.output[i]}, 2);
  }
  state.counters["GOPS"] = Median(speeds) / 1e9;
  state.counters["of_float"] = Median(speeds) / Median(float_speeds);
  if (!shape.gate) state.counters["error"] = std::sqrt(error / power);
  if (!peaks.empty()) {
    state.counters["peak"] = Median(peaks) / 1e9;
    state.counters["share"] = Median(speeds) / Median(peaks);
  }
}

void Register() {
  for (const ConvKernels* kernels : SupportedConvKernels()) {
    for (const Shape& shape : kShapes) {
      for (const bool winograd : {false, true}) {
        const ConvTask task = {.taps = shape.taps, .winograd = true};
        if (winograd && (!HasWinogradForm(task) || kernels->product_error > 0)) continue;
        benchmark::RegisterBenchmark(
            (std::string(kernels->name) + "/" + shape.name + (winograd ? "/winograd" : "")).c_str(),
            [kernels, &shape, winograd](benchmark::State& state) {
              BM_Convolve(state, *kernels, shape, winograd);
            })
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
  for (const NarrowKernels* kernels : SupportedInt8Kernels()) {
    for (const Shape& shape : kShapes) {
      if (shape.in_channels % kNarrowHalf != 0) continue;
      benchmark::RegisterBenchmark(
          (std::string("int8/") + kernels->name + "/" + shape.name).c_str(),
          [kernels, &shape](benchmark::State& state) { BM_ConvolveInt8(state, *kernels, shape); })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace
}  // namespace millrace::kernels

int main(int argc, char** argv) {
  millrace::kernels::Register();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
