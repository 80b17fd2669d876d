// Lets all workers record forwards, evict the graphs and record them again for a long time, and
// compares each output with the eager one. Prints a line every ten seconds, which shows growing
// memory:
//   seconds=10 forwards=123456 evictions=3456 wrong=0 device_mib=812.0 resident_mib=1450.3
// Exit status 1 when an output was wrong or a forward failed.
//
// Usage: millrace_graph_soak DEVICE SECONDS WORKERS
#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tanh.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/cached_forward.h"
#include "mps_runtime/linear.h"
#include "mps_runtime/runtime.h"

namespace millrace::runtime {
namespace {

constexpr int kShapes = 6;
constexpr int kEntries = 2;  // fewer than there are shapes: each third forward of a worker evicts
constexpr int64_t kWidth = 128;
constexpr std::chrono::seconds kReportInterval{10};

double ResidentMiB() {
  std::ifstream statm("/proc/self/statm");
  double pages = 0, resident = 0;
  statm >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

struct Work {
  std::vector<at::Tensor> weights, inputs, expected;  // by layer, by shape, by shape

  explicit Work(at::Device device) {
    for (int i = 0; i < 4; ++i) weights.push_back((at::randn({kWidth, kWidth}) * 0.1).to(device));
    for (int i = 0; i < kShapes; ++i) {
      inputs.push_back(at::randn({1 + i, kWidth}).to(device));
      expected.push_back(Forward(inputs.back()).to(at::kCPU));
    }
  }
  at::Tensor Forward(const at::Tensor& input) const {
    at::Tensor x = input;
    for (const at::Tensor& weight : weights) x = at::tanh(Linear(x, weight));
    return x;
  }
};

int Main(int argc, char** argv) {
  const auto device = argc == 4 ? ParseDeviceType(argv[1]) : std::nullopt;
  const double seconds = argc == 4 ? std::atof(argv[2]) : 0;
  const int workers = argc == 4 ? std::atoi(argv[3]) : 0;
  if (!device || seconds <= 0 || workers < 1 || workers > kWorkerSlots) {
    std::fprintf(stderr, "usage: millrace_graph_soak cpu|cuda|mps SECONDS WORKERS\n");
    return 2;
  }
  RuntimeOptions options;
  options.device = device;
  options.workers = workers;
  options.intra_op_threads = 1;
  options.max_in_flight = workers;
  options.accept_unsafe_concurrency = true;
  options.graph_cache.max_entries = kEntries;
  const auto runtime = Runtime::Bootstrap(options);
  std::optional<Work> work;
  {
    const auto context = runtime->EnterMainThread();
    const ForwardScope scope(*runtime, *context);
    work.emplace(at::Device(std::string(ToString(*device))));
    context->Synchronize();
  }
  std::atomic<bool> stop{false};
  std::atomic<int64_t> forwards{0}, wrong{0}, failed{0};
  const auto run = [&](int i) {
    const auto context = runtime->EnterWorker();
    // Each shape comes three times in a row: it is seen, recorded, and replayed.
    for (int round = 0; !stop.load(std::memory_order_relaxed); ++round) {
      const auto shape = static_cast<size_t>((round / 3 + i) % kShapes);
      const ForwardScope scope(*runtime, *context);
      const at::Tensor output = RunCached(
          *context, {.model = "soak", .entry_point = "forward", .shape_bucket = int64_t(shape)},
          {work->inputs[shape]}, [&](const std::vector<at::Tensor>& inputs) {
            return std::vector<at::Tensor>{work->Forward(inputs[0])};
          })[0];
      context->Synchronize();
      if (!at::allclose(output.to(at::kCPU), work->expected[shape], 1e-3, 1e-4)) ++wrong;
      ++forwards;
    }
  };
  {
    std::vector<JoiningThread> threads;
    // Stops the started threads even if another one cannot be started.
    const std::shared_ptr<void> stops(nullptr, [&stop](void*) { stop = true; });
    for (int i = 0; i < workers; ++i) {
      threads.emplace_back([&, i] {
        try {
          run(i);
        } catch (const std::exception& error) {
          std::fprintf(stderr, "millrace_graph_soak: worker %d: %s\n", i, error.what());
          ++failed;
          stop = true;
        }
      });
    }
    const auto begin = std::chrono::steady_clock::now();
    for (auto next = begin + kReportInterval;; next += kReportInterval) {
      std::this_thread::sleep_until(next);
      const std::chrono::duration<double> now = std::chrono::steady_clock::now() - begin;
      std::printf(
          "seconds=%.0f forwards=%lld evictions=%llu wrong=%lld device_mib=%.1f "
          "resident_mib=%.1f\n",
          now.count(), static_cast<long long>(forwards),
          static_cast<unsigned long long>(runtime->graph_cache_stats().evictions),
          static_cast<long long>(wrong), static_cast<double>(runtime->device_bytes()) / (1 << 20),
          ResidentMiB());
      std::fflush(stdout);
      if (now.count() >= seconds || stop) break;
    }
  }
  return wrong == 0 && failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace millrace::runtime

int main(int argc, char** argv) {
  try {
    return millrace::runtime::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "millrace_graph_soak: %s\n", error.what());
    return 1;
  }
}
