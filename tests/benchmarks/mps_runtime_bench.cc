// Measures the cost of the runtime around a forward: lease and return of a stream, a permit, a
// whole ForwardScope.
#include <benchmark/benchmark.h>

#include <latch>
#include <thread>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/errors.h"
#include "mps_runtime/runtime.h"

namespace millrace::runtime {
namespace {

// The main thread may not lease a stream, so the loop runs on another thread; starting it is
// outside the measured part.
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
  const auto mode = static_cast<ForwardMode>(state.range(0));
  options.mode = mode;
  const auto runtime = Runtime::Bootstrap(options);
  const auto context = runtime->EnterMainThread();
  for (auto _ : state) {
    ForwardScope scope(*runtime, *context);
    benchmark::DoNotOptimize(scope);
  }
  state.SetLabel(std::string(ToString(mode)));
}
BENCHMARK(BM_ForwardScopeNoOp)->DenseRange(0, 2);

void BM_EnterAndLeaveWorker(benchmark::State& state) {
  const auto runtime = Runtime::Bootstrap({});
  OnWorkerThread([&] {
    for (auto _ : state) benchmark::DoNotOptimize(runtime->EnterWorker()->stream());
  });
}
BENCHMARK(BM_EnterAndLeaveWorker)->MeasureProcessCPUTime();

// Measures the look-up of a thread's own context, once it has one.
void BM_ForThisThread(benchmark::State& state) {
  const auto runtime = Runtime::Bootstrap({});
  OnWorkerThread([&] {
    for (auto _ : state) benchmark::DoNotOptimize(&runtime->ForThisThread());
  });
}
BENCHMARK(BM_ForThisThread)->MeasureProcessCPUTime();

// Measures the time until a thread beyond the last slot is refused.
void BM_RefusedThirtySecondThread(benchmark::State& state) {
  const auto runtime = Runtime::Bootstrap({});
  std::latch in(kWorkerSlots), leave(1);
  std::vector<JoiningThread> crowd;
  for (int i = 0; i < kWorkerSlots; ++i) {
    crowd.emplace_back([&] {
      runtime->ForThisThread();
      in.count_down();
      leave.wait();
    });
  }
  in.wait();
  OnWorkerThread([&] {
    for (auto _ : state) {
      try {
        runtime->ForThisThread();
        state.SkipWithError("not refused");
      } catch (const StreamPoolExhausted&) {
      }
    }
  });
  leave.count_down();
}
BENCHMARK(BM_RefusedThirtySecondThread)->MeasureProcessCPUTime();

}  // namespace
}  // namespace millrace::runtime

BENCHMARK_MAIN();
