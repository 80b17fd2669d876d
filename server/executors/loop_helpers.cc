#include "server/executors/loop_helpers.h"

#include <algorithm>
#include <thread>

namespace millrace::server {
namespace {

// How often a helper yields until it sleeps, as in Scheduler: the next loop comes soon.
constexpr int kHelperYields = 3000;

}  // namespace

LoopHelpers::LoopHelpers(int workers, int cores, Clock& clock)
    : cores_(cores),
      loops_(std::min(workers, SharedLoops::kMostWorkers), clock, [this] { Wake(); }) {
  const int helpers = std::clamp(cores - 1, 0, std::min(workers, SharedLoops::kMostWorkers));
  {
    const MutexLock lock(mu_);
    helpers_ = helpers;
    Count();
  }
  for (int i = 0; i < helpers; ++i) threads_.emplace_back([this] { Run(); });
}

LoopHelpers::~LoopHelpers() {
  const MutexLock lock(mu_);
  stop_ = true;
  recalls_.fetch_add(1, std::memory_order_relaxed);
  work_.NotifyAll();
}

int LoopHelpers::Most() const { return stop_ ? 0 : std::clamp(cores_ - busy_, 0, helpers_); }

void LoopHelpers::Count() {
  loops_.SetHelpers(Most(), std::max(Most() - helping_, 0));
  if (helping_ > Most()) recalls_.fetch_add(1, std::memory_order_relaxed);
}

void LoopHelpers::BeginStep() {
  const MutexLock lock(mu_);
  ++busy_;
  Count();
}

void LoopHelpers::EndStep() {
  const MutexLock lock(mu_);
  --busy_;
  Count();
}

void LoopHelpers::Wake() {
  const MutexLock lock(mu_);
  work_.NotifyOne();
}

void LoopHelpers::Run() {
  MutexLock lock(mu_);
  while (!stop_) {
    if (helping_ >= Most() || !loops_.HasOpen()) {
      work_.Wait(mu_);
      continue;
    }
    ++helping_;
    Count();
    const uint32_t recalls = recalls_.load(std::memory_order_relaxed);
    lock.Unlock();
    int yields = 0;
    while (yields < kHelperYields && recalls_.load(std::memory_order_relaxed) == recalls) {
      if (loops_.HelpOnce()) {
        yields = 0;
      } else {
        std::this_thread::yield();
        ++yields;
      }
    }
    lock.Lock();
    --helping_;
    Count();
  }
}

}  // namespace millrace::server
