#include "mps_runtime/probe/run_workers.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <exception>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::runtime {

double RunWorkers(Runtime& runtime, int threads,
                  const std::function<void(int, WorkerContext&)>& body) {
  using Time = std::chrono::steady_clock;
  Time::time_point begin;
  const auto note_begin = [&begin]() noexcept { begin = Time::now(); };
  std::barrier start(threads + 1, note_begin);  // runs before any thread goes on
  std::atomic<bool> all_in{true};
  Mutex mu;
  std::exception_ptr failure;  // guarded by mu until all threads are joined
  const auto fail = [&] {
    const MutexLock lock(mu);
    if (failure == nullptr) failure = std::current_exception();
  };
  Time::time_point end{};  // guarded by mu too
  {
    std::vector<JoiningThread> running;
    try {
      for (int i = 0; i < threads; ++i) {
        running.emplace_back([&, i] {
          std::unique_ptr<WorkerContext> context;
          try {
            context = runtime.EnterWorker();
          } catch (...) {
            fail();
            all_in = false;
          }
          start.arrive_and_wait();
          if (!all_in) return;
          try {
            body(i, *context);
          } catch (...) {
            fail();
          }
          const MutexLock lock(mu);
          end = std::max(end, Time::now());
        });
      }
    } catch (...) {
      fail();
      all_in = false;
      // Arrives in place of the threads that could not be started.
      for (int i = static_cast<int>(running.size()); i < threads; ++i) start.arrive_and_drop();
    }
    start.arrive_and_wait();
  }
  if (failure != nullptr) std::rethrow_exception(failure);
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace millrace::runtime
