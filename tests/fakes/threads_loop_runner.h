#pragma once

#include <atomic>
#include <barrier>
#include <cstdint>
#include <vector>

#include "models/kernels/parallel_for.h"
#include "mps_runtime/base/joining_thread.h"

namespace millrace::testing {

// Runs each loop on so many threads that begin at once, from its last part to its first. None of
// them is the caller's.
class ThreadsLoopRunner final : public kernels::LoopRunner {
 public:
  explicit ThreadsLoopRunner(int threads) : threads_(threads) {}

  int Width() const override { return threads_; }

  void Run(int64_t parts, kernels::LoopBody body) override {
    ++loops_;
    std::atomic<int64_t> left{parts};
    std::barrier start(threads_);
    std::vector<JoiningThread> threads;
    for (int i = 0; i < threads_; ++i) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        for (int64_t part = left.fetch_sub(1) - 1; part >= 0; part = left.fetch_sub(1) - 1)
          body(part);
      });
    }
  }

  // Returns the number of loops that had more than one part.
  int loops() const { return loops_; }

 private:
  const int threads_;
  int loops_ = 0;
};

}  // namespace millrace::testing
