// Speed of the products of the encoder-decoder models for each instruction set and precision that
// MILLRACE_CPU_ISA allows, on one thread: billions of multiplications with an addition per second,
// and their share of what the processor reaches in float32 with nothing but those on registers.
// Weights in int8 or bfloat16 may so exceed 1. Measured as conv_kernels_bench does.
//
// usage: product_kernels_bench [--benchmark_filter=...]

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "models/kernels/packed_linear.h"
#include "tests/benchmarks/bench_peak.inl"

namespace millrace::kernels {
namespace {

struct Shape {
  int64_t inputs;
  int64_t outputs;
};

// The layers of OPUS-MT-base: attention, feed-forward and a part of its output layer.
constexpr Shape kShapes[] = {{512, 512}, {512, 2048}, {2048, 512}, {512, 8192}};
// A step of one sentence, of batches that two workers divide, and a sentence for the encoder.
constexpr int64_t kRows[] = {1, 16, 32};

void BM_Product(benchmark::State& state, const LinearKernels& kernels, Target target,
                const Shape& shape, int64_t rows) {
  const AlignedBuffer<float> weights = Random(shape.inputs * shape.outputs);
  const AlignedBuffer<float> a = Random(rows * shape.inputs);
  const FloatLinear linear = {{weights.data(), shape.outputs, shape.inputs}, {}};
  const PackedLinear packed({linear}, kernels);
  AlignedBuffer<float> out(static_cast<size_t>(rows * packed.width()));
  Scratch scratch;
  const auto products = static_cast<double>(rows * shape.inputs * shape.outputs);
  int64_t (*const peak)() = PeakOf(target);
  std::vector<double> speeds;
  std::vector<double> peaks;
  for (auto _ : state) {
    const double begin = ThreadSeconds();
    packed.Multiply(a.data(), shape.inputs, rows, scratch, out.data());
    const double end = ThreadSeconds();
    state.SetIterationTime(end - begin);
    speeds.push_back(products / (end - begin));
    // The loop of the peak is long beside a product.
    if (peak == nullptr || speeds.size() % 16 != 1) continue;
    const double peak_begin = ThreadSeconds();
    const auto peak_operations = static_cast<double>(peak());
    peaks.push_back(peak_operations / 2 / (ThreadSeconds() - peak_begin));
  }
  state.counters["GMACs"] = Median(speeds) / 1e9;
  if (!peaks.empty()) state.counters["share"] = Median(speeds) / Median(peaks);
}

// Returns the target whose vectors are as wide, and whose peak in float32 is the measure.
Target FloatTarget(Target target) {
  if (target >= Target::kNeon) return Target::kNeon;
  return target < Target::kAvx512 ? target : Target::kAvx512;
}

void Register(const std::string& name, const LinearKernels& kernels, Target target) {
  for (const Shape& shape : kShapes) {
    for (const int64_t rows : kRows) {
      const std::string full = name + "/" + std::to_string(shape.inputs) + "x" +
                               std::to_string(shape.outputs) + "/rows:" + std::to_string(rows);
      benchmark::RegisterBenchmark(full.c_str(),
                                   [kernels, target, &shape, rows](benchmark::State& state) {
                                     BM_Product(state, kernels, FloatTarget(target), shape, rows);
                                   })
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
}

void RegisterAll() {
  for (const FloatKernels* floats : SupportedFloatKernels())
    Register(std::string("float32/") + floats->name, {.floats = *floats}, floats->target);
  const auto narrow = [](const char* name, const NarrowKernels* kernels, Precision precision) {
    Register(std::string(name) + kernels->name,
             {.floats = kPortableFloat, .precision = precision, .narrow = kernels},
             kernels->target);
  };
  for (const NarrowKernels* kernels : SupportedInt8Kernels())
    narrow("int8/", kernels, Precision::kInt8);
  for (const NarrowKernels* kernels : SupportedBfloatKernels())
    narrow("bfloat16/", kernels, Precision::kBfloat16);
}

}  // namespace
}  // namespace millrace::kernels

int main(int argc, char** argv) {
  millrace::kernels::RegisterAll();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
