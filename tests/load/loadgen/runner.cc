#include "tests/load/loadgen/runner.h"

#include <chrono>
#include <thread>

namespace millrace::loadgen {

using std::chrono::steady_clock;

void Runner::Run() {
  outstanding_.store(1);
  std::this_thread::sleep_until(recorder_.start());
  if (options_.open_loop()) {
    RunOpenLoop();
  } else {
    RunClosedLoop();
  }
  Release();
  MutexLock lock(mu_);
  while (!done_) all_done_.Wait(mu_);
}

bool Runner::Over(uint64_t index, SteadyTime now) const {
  if (stopped_.load(std::memory_order_relaxed)) return true;
  if (options_.count > 0 && index >= options_.count) return true;
  return options_.duration.count() > 0 && now - recorder_.start() >= options_.duration;
}

void Runner::RunClosedLoop() {
  for (int i = 0; i < options_.concurrency && StartNext(); ++i) {
  }
}

bool Runner::StartNext() {
  const SteadyTime now = steady_clock::now();
  uint64_t index = next_.load(std::memory_order_relaxed);
  do {
    if (Over(index, now)) return false;
  } while (!next_.compare_exchange_weak(index, index + 1, std::memory_order_relaxed));
  outstanding_.fetch_add(1);
  caller_.Start(index, now, *this);
  return true;
}

void Runner::RunOpenLoop() {
  const std::chrono::duration<double, std::nano> period(1e9 / options_.rate);
  for (uint64_t index = 0;; ++index) {
    const SteadyTime due = recorder_.start() + std::chrono::duration_cast<steady_clock::duration>(
                                                   period * static_cast<double>(index));
    if (Over(index, due)) return;
    // Late already: send at once. The schedule itself never moves, so that a slow server is not
    // asked less.
    const SteadyTime now = steady_clock::now();
    if (due > now) std::this_thread::sleep_until(due);
    next_.store(index + 1, std::memory_order_relaxed);
    if (now - due > options_.max_lag || outstanding_.load() > options_.max_outstanding) {
      recorder_.AddUnsent();
      continue;
    }
    outstanding_.fetch_add(1);
    caller_.Start(index, due, *this);
  }
}

void Runner::OnCallDone() {
  if (!options_.open_loop()) StartNext();
  Release();
}

void Runner::Release() {
  if (outstanding_.fetch_sub(1) != 1) return;
  MutexLock lock(mu_);
  done_ = true;
  all_done_.NotifyOne();
}

}  // namespace millrace::loadgen
