// The graph cache: forwards through it give the numbers of eager ones, from many threads, with
// graphs that are evicted and recorded again all the time. Where a device records nothing, they are
// eager forwards.
#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/tanh.h>

#include <atomic>
#include <vector>

#include "mps_runtime/cached_forward.h"
#include "mps_runtime/probe/run_workers.h"
#include "mps_runtime/probe/tensors.h"
#include "mps_runtime/selftest/conformance.h"

namespace millrace::runtime {
namespace {

constexpr int kLayers = 4;
constexpr int kWidth = 128;
constexpr int kShapes = 6;
constexpr int kGraphSeeds = 3;

std::vector<at::Tensor> Weights(at::Device device) {
  std::vector<at::Tensor> weights;
  for (int i = 0; i < kLayers; ++i)
    weights.push_back(Numbers({kWidth, kWidth}, device, 100 + i) * 0.1);
  return weights;
}

std::vector<at::Tensor> Layers(const std::vector<at::Tensor>& weights,
                               const std::vector<at::Tensor>& inputs) {
  at::Tensor x = inputs[0];
  for (const at::Tensor& weight : weights) x = at::tanh(at::linear(x, weight));
  return {x};
}

at::Tensor Input(int shape, int seed, at::Device device) {
  return Numbers({1 + shape, kWidth}, device, seed);
}

void ExpectEqualToEager(const SelftestSetup& setup, int threads, int rounds, size_t max_entries,
                        Findings& findings) {
  RuntimeOptions options = SelftestRuntime(setup, threads);
  options.graph_cache.max_entries = max_entries;
  const auto runtime = Runtime::Bootstrap(options);
  const at::Device device = TensorDevice(runtime->device());
  std::vector<at::Tensor> weights;
  std::vector<std::vector<at::Tensor>> expected(kShapes);
  {
    const auto context = runtime->EnterMainThread();
    const ForwardScope scope(*runtime, *context);
    weights = Weights(device);
    for (int shape = 0; shape < kShapes; ++shape) {
      for (int seed = 0; seed < kGraphSeeds; ++seed) {
        expected[shape].push_back(Layers(weights, {Input(shape, seed, device)})[0].to(at::kCPU));
      }
    }
    context->Synchronize();
  }
  std::atomic<int> wrong{0};
  const double seconds = RunWorkers(*runtime, threads, [&](int thread, auto& context) {
    for (int round = 0; round < rounds; ++round) {
      // Each shape comes three times in a row: it is seen, recorded, and replayed.
      const int shape = (round / 3 + thread) % kShapes;
      const int seed = round % kGraphSeeds;
      const ForwardScope scope(*runtime, context);
      const GraphKey key{.model = "graphs", .entry_point = "forward", .shape_bucket = shape};
      const Forward forward = [&weights](const std::vector<at::Tensor>& inputs) {
        return Layers(weights, inputs);
      };
      at::Tensor output;
      if (thread % 2 == 0) {
        output = RunCached(context, key, {Input(shape, seed, device)}, forward)[0];
        context.Synchronize();
      } else {
        output = RunCachedOnHost(context, key, {Input(shape, seed, at::kCPU)}, forward)[0];
      }
      if (!SameNumbers(expected[shape][seed], output.to(at::kCPU), runtime->device())) ++wrong;
    }
  });
  const GraphCacheStats stats = runtime->graph_cache_stats();
  const auto forwards = static_cast<uint64_t>(threads) * static_cast<uint64_t>(rounds);
  findings.AddFigure("forwards", static_cast<double>(forwards));
  findings.AddFigure("forwards_per_s", static_cast<double>(forwards) / seconds);
  findings.AddFigure("wrong", wrong);
  findings.AddFigure("cache_hits", static_cast<double>(stats.hits));
  findings.AddFigure("cache_misses", static_cast<double>(stats.misses));
  findings.AddFigure("cache_evictions", static_cast<double>(stats.evictions));
  findings.ExpectEqual("results that differ from eager ones", 0, wrong.load());
  if (runtime->device() != DeviceType::kCuda) return;
  findings.ExpectEqual("hits and misses", forwards, stats.hits + stats.misses);
  if (max_entries >= kShapes) {
    findings.ExpectEqual("misses", threads * kShapes, stats.misses);
  } else {
    findings.ExpectAbove("evictions", static_cast<double>(forwards) / 4,
                         static_cast<double>(stats.evictions));
  }
}

}  // namespace

void TestGraphsEqualEager(const SelftestSetup& setup, Findings& findings) {
  ExpectEqualToEager(setup, 8, 300, 256, findings);
}

// Every worker records and evicts while the others replay.
void TestGraphsThatAreEvictedEqualEager(const SelftestSetup& setup, Findings& findings) {
  ExpectEqualToEager(setup, kWorkerSlots, 120, 2, findings);
}

}  // namespace millrace::runtime
