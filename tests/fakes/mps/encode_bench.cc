// Measures forwards a second of eight workers on the stand-in for Apple's GPU, where encoding a
// forward takes 1 ms of the host and running it 1 ms of the GPU: with one mutex around the forward,
// with the encode lock, which a stock libtorch needs, and with a graph cache for each worker, as a
// patched one has. Both times are spent asleep and each stream has a GPU of its own, so this shows
// what the locks let overlap; it says nothing about Metal's speed.
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "mps_runtime/probe/run_workers.h"
#include "mps_runtime/runtime.h"
#include "tests/fakes/mps/faults.h"

namespace millrace::runtime {
namespace {

constexpr int kWorkers = 8;
constexpr int kForwards = 50;  // per worker

constexpr char kOneMutex[] = "one mutex";
constexpr char kEncodeLock[] = "encode lock";
constexpr char kCachePerWorker[] = "cache per worker";

void Forwards(benchmark::State& state, const char* label, int patch_level, ForwardMode mode) {
  mps_standin::TheFaults().Set("encode_microseconds=1000 gpu_microseconds=1000");
  mps_standin::TheFaults().patch_level = patch_level;
  RuntimeOptions options;
  options.device = DeviceType::kMps;
  options.workers = kWorkers;
  options.mode = mode;
  options.max_in_flight = kWorkers;
  options.accept_unsafe_concurrency = true;
  options.intra_op_threads = 1;
  const auto runtime = Runtime::Bootstrap(options);
  for (auto _ : state) {
    state.SetIterationTime(RunWorkers(*runtime, kWorkers, [&](int, WorkerContext& context) {
      for (int i = 0; i < kForwards; ++i) {
        const ForwardScope scope(*runtime, context);
        const at::Tensor numbers = at::empty({8, 8}, at::TensorOptions().device(at::kMPS));
        const at::Tensor product = at::mm(numbers, numbers);
        context.Synchronize();
      }
    }));
  }
  state.SetItemsProcessed(state.iterations() * kWorkers * kForwards);
  state.SetLabel(label);
}

BENCHMARK_CAPTURE(Forwards, one_mutex, kOneMutex, 0, ForwardMode::kSerial)->UseManualTime();
BENCHMARK_CAPTURE(Forwards, encode_lock, kEncodeLock, 0, ForwardMode::kEncodeLock)->UseManualTime();
BENCHMARK_CAPTURE(Forwards, cache_per_worker, kCachePerWorker, 1, ForwardMode::kParallel)
    ->UseManualTime();

// Prints the runs, and at the end what the modes gain over one mutex.
class GainReporter final : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Iteration)
        rates_[run.report_label].push_back(run.counters.at("items_per_second"));
    }
  }
  void Finalize() override {
    ConsoleReporter::Finalize();
    for (const char* const mode : {kEncodeLock, kCachePerWorker}) {
      if (rates_.contains(mode) && rates_.contains(kOneMutex))
        std::printf("%s: %.2fx of one mutex\n", mode, Median(mode) / Median(kOneMutex));
    }
  }

 private:
  double Median(const char* mode) {
    std::vector<double>& rates = rates_.at(mode);
    std::nth_element(rates.begin(), rates.begin() + rates.size() / 2, rates.end());
    return rates[rates.size() / 2];
  }

  std::map<std::string, std::vector<double>> rates_;  // forwards a second, by mode
};

}  // namespace
}  // namespace millrace::runtime

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  millrace::runtime::GainReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return 0;
}
