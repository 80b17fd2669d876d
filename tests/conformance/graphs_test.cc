// The graph cache: forwards through it give the numbers of eager ones, from many threads, with
// records that are evicted and made again all the time. Where a device records nothing they are
// eager ones.
#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/tanh.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "mps_runtime/cached_forward.h"
#include "tests/conformance/harness.h"
#include "tests/conformance/operators.h"

namespace millrace::conformance {
namespace {

constexpr int kLayers = 4;
constexpr int kWidth = 128;
constexpr int kShapes = 6;
constexpr int kSeeds = 3;

std::vector<at::Tensor> Weights(at::Device device) {
  std::vector<at::Tensor> weights;
  for (int i = 0; i < kLayers; ++i)
    weights.push_back(Numbers({kWidth, kWidth}, device, 100 + i) * 0.1);
  return weights;
}

std::vector<at::Tensor> Forward(const std::vector<at::Tensor>& weights,
                                const std::vector<at::Tensor>& inputs) {
  at::Tensor x = inputs[0];
  for (const at::Tensor& weight : weights) x = at::tanh(at::linear(x, weight));
  return {x};
}

at::Tensor Input(int shape, int seed, at::Device device) {
  return Numbers({1 + shape, kWidth}, device, seed);
}

void ExpectEqualToEager(int threads, int rounds, size_t max_entries) {
  runtime::RuntimeOptions options = Options(threads);
  options.graph_cache.max_entries = max_entries;
  const auto runtime = runtime::Runtime::Bootstrap(options);
  const at::Device device = TensorDevice(*runtime);
  std::vector<at::Tensor> weights;
  std::vector<std::vector<at::Tensor>> expected(kShapes);
  {
    const auto context = runtime->EnterMainThread();
    const runtime::ForwardScope scope(*runtime, *context);
    weights = Weights(device);
    for (int shape = 0; shape < kShapes; ++shape) {
      for (int seed = 0; seed < kSeeds; ++seed) {
        expected[shape].push_back(Forward(weights, {Input(shape, seed, device)})[0].to(at::kCPU));
      }
    }
    context->Synchronize();
  }
  std::atomic<int> wrong{0};
  const double seconds = RunWorkers(*runtime, threads, [&](int thread, auto& context) {
    for (int round = 0; round < rounds; ++round) {
      // Three times in a row: to be seen, recorded, replayed.
      const int shape = (round / 3 + thread) % kShapes;
      const int seed = round % kSeeds;
      const runtime::ForwardScope scope(*runtime, context);
      const at::Tensor output = runtime::RunCached(
          context, {.model = "graphs", .entry_point = "forward", .shape_bucket = shape},
          {Input(shape, seed, device)}, [&weights](const std::vector<at::Tensor>& inputs) {
            return Forward(weights, inputs);
          })[0];
      context.Synchronize();
      if (!SameNumbers(expected[shape][seed], output.to(at::kCPU), runtime->device())) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
  const runtime::GraphCacheStats stats = runtime->graph_cache_stats();
  if (runtime->device() == runtime::DeviceType::kCuda) {
    const auto forwards = static_cast<uint64_t>(threads) * static_cast<uint64_t>(rounds);
    EXPECT_EQ(stats.hits + stats.misses, forwards);
    if (max_entries >= kShapes) {
      EXPECT_EQ(stats.misses, static_cast<uint64_t>(threads) * kShapes);
    } else {
      EXPECT_GT(stats.evictions, forwards / 4);
    }
  }
  Report("graphs_" + std::to_string(threads) + "_cache_" + std::to_string(max_entries),
         std::to_string(threads * rounds) + " forwards, " + std::to_string(wrong) + " wrong, " +
             std::to_string(static_cast<int>(threads * rounds / seconds)) + "/s, " +
             std::to_string(stats.hits) + " hits, " + std::to_string(stats.misses) + " misses, " +
             std::to_string(stats.evictions) + " evictions");
}

TEST(Conformance, GraphsEqualEager) { ExpectEqualToEager(8, 300, 256); }
// Every worker records and evicts while the others replay.
TEST(Conformance, GraphsThatAreEvictedEqualEager) {
  ExpectEqualToEager(runtime::kWorkerSlots, 120, 2);
}

}  // namespace
}  // namespace millrace::conformance
