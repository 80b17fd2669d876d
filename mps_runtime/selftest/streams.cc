// Tests 4, stream assignment; 7, over-subscription; and 8, thread churn.
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>

#include <atomic>
#include <exception>
#include <latch>
#include <set>
#include <string>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/base/mutex.h"
#include "mps_runtime/errors.h"
#include "mps_runtime/probe/operators.h"
#include "mps_runtime/probe/run_workers.h"
#include "mps_runtime/probe/tensors.h"
#include "mps_runtime/selftest/conformance.h"

namespace millrace::runtime {

void TestStreamAssignment(const SelftestSetup& setup, Findings& findings) {
  constexpr int kRounds = 10;
  const auto runtime = Runtime::Bootstrap(SelftestRuntime(setup, kWorkerSlots));
  const at::Device device = TensorDevice(runtime->device());
  int refused = 0;
  {
    const auto context = runtime->EnterMainThread();
    findings.ExpectEqual("stream of the main thread", 0, context->stream().slot);
    JoiningThread([&] {
      try {
        const ForwardScope scope(*runtime, *context);
      } catch (const StreamError&) {
        ++refused;
      }
    });
  }
  std::atomic<int> changed{0};
  for (int round = 0; round < kRounds; ++round) {
    Mutex mu;
    std::set<int> slots;
    RunWorkers(*runtime, kWorkerSlots, [&](int thread, auto& context) {
      const Stream stream = context.stream();
      const at::Tensor numbers = Numbers({64}, at::kCPU, thread);
      {
        // A round trip to the device and back on this stream.
        const ForwardScope scope(*runtime, context);
        const at::Tensor there = numbers.to(device) + 1;
        context.Synchronize();
        if (!at::equal(there.to(at::kCPU), numbers + 1) || context.stream() != stream) ++changed;
      }
      const MutexLock lock(mu);
      slots.insert(stream.slot);
    });
    findings.ExpectEqual("distinct streams", kWorkerSlots, slots.size());
    findings.ExpectEqual("lowest stream", 1, *slots.begin());
    findings.ExpectEqual("highest stream", kWorkerSlots, *slots.rbegin());
  }
  findings.AddFigure("streams", kWorkerSlots);
  findings.AddFigure("rounds", kRounds);
  findings.AddFigure("refused", refused);
  findings.ExpectEqual("threads refused that used another's stream", 1, refused);
  findings.ExpectEqual("threads whose stream or numbers changed", 0, changed.load());
}

void TestOverSubscription(const SelftestSetup& setup, Findings& findings) {
  constexpr int kTooMany = 50;
  const auto runtime = Runtime::Bootstrap(SelftestRuntime(setup, kWorkerSlots));
  const at::Device device = TensorDevice(runtime->device());
  const Operator& op = Operators()[0];
  at::Tensor expected;
  {
    const auto context = runtime->EnterMainThread();
    const ForwardScope scope(*runtime, *context);
    expected = RunToHost(op, device, 0, *context);
  }
  std::latch all_in(kWorkerSlots);
  std::atomic<int> refused{0}, wrong{0}, forwards{0};
  std::atomic<bool> stop{false};
  JoiningThread crowd([&] {
    all_in.wait();
    for (int i = 0; i < kTooMany; ++i) {
      JoiningThread([&] {
        try {
          runtime->EnterWorker();
        } catch (const StreamPoolExhausted&) {
          ++refused;
        } catch (const std::exception& error) {
          findings.Fail(std::string("a 32nd thread: ") + error.what());
        }
      });
    }
    stop = true;
  });
  try {
    RunWorkers(*runtime, kWorkerSlots, [&](int, auto& context) {
      all_in.count_down();
      do {
        const ForwardScope scope(*runtime, context);
        if (!SameNumbers(expected, RunToHost(op, device, 0, context), runtime->device())) ++wrong;
        ++forwards;
      } while (!stop);
    });
  } catch (...) {
    while (!all_in.try_wait()) all_in.count_down();  // no body ran, so the crowd still waits
    throw;
  }
  crowd.join();
  const StreamPool::Stats stats = runtime->stream_pool().stats();
  findings.AddFigure("refused", refused);
  findings.AddFigure("forwards_meanwhile", forwards);
  findings.AddFigure("wrong", wrong);
  findings.ExpectEqual("threads refused", kTooMany, refused.load());
  findings.ExpectEqual("refusals counted", kTooMany, stats.refusals_total);
  findings.ExpectEqual("results that differ from those of one thread", 0, wrong.load());
  findings.ExpectEqual("streams still leased", 0, stats.leased);
}

void TestThreadChurn(const SelftestSetup& setup, Findings& findings) {
  constexpr int kRounds = 250;
  constexpr int kAtOnce = 16;
  const auto runtime = Runtime::Bootstrap(SelftestRuntime(setup, kAtOnce));
  const at::Device device = TensorDevice(runtime->device());
  std::atomic<int> highest{0};
  const auto note = [&](const WorkerContext& context) {
    const int slot = context.stream().slot;
    for (int seen = highest; seen < slot && !highest.compare_exchange_weak(seen, slot);) {
    }
  };
  struct Abandoned {};
  double seconds = 0;
  for (int round = 0; round < kRounds; ++round) {
    findings.Progress("round " + std::to_string(round + 1) + " of " + std::to_string(kRounds));
    seconds += RunWorkers(*runtime, kAtOnce, [&](int thread, auto& context) {
      const ForwardScope scope(*runtime, context);
      RunToHost(Operators()[thread % Operators().size()], device, thread, context);
      note(context);
    });
  }
  // These threads never ask for a context and never give it back; one in four ends with an
  // exception.
  for (int round = 0; round < kRounds; ++round) {
    findings.Progress("round " + std::to_string(round + 1) + " without asking");
    std::vector<JoiningThread> threads;
    for (int thread = 0; thread < kAtOnce; ++thread) {
      threads.emplace_back([&, thread] {
        try {
          WorkerContext& context = runtime->ForThisThread();
          note(context);
          const ForwardScope scope(*runtime, context);
          RunToHost(Operators()[thread % Operators().size()], device, thread, context);
          if (thread % 4 == 0) throw Abandoned();
        } catch (const Abandoned&) {
        } catch (const std::exception& error) {
          findings.Fail(std::string("a thread that never asked: ") + error.what());
        }
      });
    }
  }
  constexpr int kThreads = 2 * kRounds * kAtOnce;
  const StreamPool::Stats stats = runtime->stream_pool().stats();
  findings.AddFigure("threads", kThreads);
  findings.AddFigure("leaked_streams", stats.leased);
  findings.AddFigure("highest_stream", highest);
  findings.AddFigure("first_forwards_per_s", kRounds * kAtOnce / seconds);
  findings.ExpectEqual("streams still leased", 0, stats.leased);
  findings.ExpectEqual("leases", kThreads, stats.leases_total);
  findings.ExpectEqual("refusals", 0, stats.refusals_total);
  // Freed slots are reused before fresh ones.
  findings.ExpectAtMost("highest stream", kAtOnce, highest.load());
}

}  // namespace millrace::runtime
