// What the runtime costs around a forward: lease and return of a stream, a permit, a whole
// ForwardScope.
#include <benchmark/benchmark.h>

#include <thread>

#include "mps_runtime/runtime.h"

namespace millrace::runtime {
namespace {

// The main thread may not lease, so the loop runs on another; its start is outside the measured
// part.
template <typename Body>
void OnWorkerThread(Body body) {
  std::thread(body).join();
}

void BM_LeaseAndReturn(benchmark::State& state) {
  StreamPool pool(DeviceType::kCpu);
  OnWorkerThread([&] {
    for (auto _ : state) benchmark::DoNotOptimize(pool.LeaseStream().stream());
  });
}
BENCHMARK(BM_LeaseAndReturn)->MeasureProcessCPUTime();

void BM_PermitUncontended(benchmark::State& state) {
  Limiter limiter(2);
  for (auto _ : state) {
    DevicePermit permit = limiter.Acquire();
    benchmark::DoNotOptimize(permit);
  }
}
BENCHMARK(BM_PermitUncontended);

void BM_PermitContended(benchmark::State& state) {
  static Limiter limiter(1);
  for (auto _ : state) {
    DevicePermit permit = limiter.Acquire();
    benchmark::DoNotOptimize(permit);
  }
}
BENCHMARK(BM_PermitContended)->Threads(2)->Threads(8)->UseRealTime();

void BM_ForwardScopeNoOp(benchmark::State& state) {
  RuntimeOptions options;
  options.mode = static_cast<ForwardMode>(state.range(0));
  const auto runtime = Runtime::Bootstrap(options);
  const auto context = runtime->EnterMainThread();
  for (auto _ : state) {
    ForwardScope scope(*runtime, *context);
    benchmark::DoNotOptimize(scope);
  }
  state.SetLabel(std::string(ToString(options.mode)));
}
BENCHMARK(BM_ForwardScopeNoOp)->DenseRange(0, 2);

void BM_EnterAndLeaveWorker(benchmark::State& state) {
  const auto runtime = Runtime::Bootstrap({});
  OnWorkerThread([&] {
    for (auto _ : state) benchmark::DoNotOptimize(runtime->EnterWorker()->stream());
  });
}
BENCHMARK(BM_EnterAndLeaveWorker)->MeasureProcessCPUTime();

}  // namespace
}  // namespace millrace::runtime

BENCHMARK_MAIN();
