#include "server/scheduling/shared_loops.h"

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "mps_runtime/base/check.h"

namespace millrace::server {
namespace {

// The lower bits of SharedLoop::next_ are a part, the others the number of the loop.
constexpr int kPartBits = 24;
constexpr uint64_t kNoPart = (uint64_t{1} << kPartBits) - 1;

// How often a worker yields to other threads before it sleeps until the last helper is done: about
// as long as it takes to be woken.
constexpr int kLoopYields = 200;

}  // namespace

// A loop while it is open. The destructor closes it and waits for the parts that others have begun,
// since these refer to what the owner has on its stack.
class SharedLoop::Opening {
 public:
  Opening(SharedLoop& loop, int64_t first, int64_t parts, kernels::LoopBody body)
      : loop_(loop), first_(first) {
    loop.parts_.store(parts, std::memory_order_release);
    loop.object_.store(body.object(), std::memory_order_release);
    loop.call_.store(body.call(), std::memory_order_release);
    loop.helped_parts_.store(0, std::memory_order_relaxed);
    const uint64_t number = loop.next_.load(std::memory_order_relaxed) >> kPartBits;
    loop.next_.store(number << kPartBits | static_cast<uint64_t>(first), std::memory_order_release);
    loop.loops_.open_.fetch_or(uint64_t{1} << loop.worker_);
    if (loop.loops_.asleep_.load() > 0) loop.loops_.wake_();
  }
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;
  ~Opening() {
    loop_.loops_.open_.fetch_and(~(uint64_t{1} << loop_.worker_), std::memory_order_relaxed);
    const uint64_t number = (loop_.next_.load(std::memory_order_relaxed) >> kPartBits) + 1;
    const uint64_t last =
        loop_.next_.exchange(number << kPartBits | kNoPart, std::memory_order_acq_rel);
    const int taken = static_cast<int>(static_cast<int64_t>(last & kNoPart) - first_);
    for (int yields = 0;; ++yields) {
      const int done = loop_.helped_parts_.load(std::memory_order_acquire);
      if (done == taken - own_) return;
      if (yields < kLoopYields) {
        std::this_thread::yield();
      } else {
        loop_.helped_parts_.wait(done, std::memory_order_acquire);
      }
    }
  }

  // Runs parts until all are taken.
  void RunParts() {
    while (const std::optional<Part> part = loop_.Take()) {
      ++own_;
      part->body(part->number);
    }
  }

 private:
  SharedLoop& loop_;
  const int64_t first_;
  int own_ = 0;  // parts that the owner took
};

SharedLoop::SharedLoop(SharedLoops& loops, int worker)
    : loops_(loops), worker_(worker), next_(kNoPart) {}

int SharedLoop::Width() const { return 1 + loops_.helpers_.load(std::memory_order_relaxed); }

void SharedLoop::Run(int64_t parts, kernels::LoopBody body) {
  int64_t first = 0;
  while (first < parts && (Width() == 1 || parts - first == 1 || parts >= int64_t{kNoPart}))
    body(first++);
  if (first == parts) return;
  try {
    Opening(*this, first, parts, body).RunParts();
  } catch (...) {
    TakeFailure();  // one is enough
    throw;
  }
  if (const std::exception_ptr failure = TakeFailure()) std::rethrow_exception(failure);
}

std::exception_ptr SharedLoop::TakeFailure() {
  MutexLock lock(mu_);
  return std::exchange(failure_, nullptr);
}

Duration SharedLoop::TakeHelped() {
  return std::chrono::duration_cast<Duration>(
      std::chrono::nanoseconds(helped_nanoseconds_.exchange(0, std::memory_order_relaxed)));
}

std::optional<SharedLoop::Part> SharedLoop::Take() {
  uint64_t next = next_.load(std::memory_order_acquire);
  for (;;) {
    // If these are those of a later loop, `next` is out of date and the exchange fails.
    const int64_t parts = parts_.load(std::memory_order_acquire);
    const void* const object = object_.load(std::memory_order_acquire);
    const auto call = call_.load(std::memory_order_acquire);
    const auto number = static_cast<int64_t>(next & kNoPart);
    if (number >= parts) return std::nullopt;
    if (next_.compare_exchange_weak(next, next + 1, std::memory_order_acq_rel,
                                    std::memory_order_acquire)) {
      return Part{kernels::LoopBody(object, call), number};
    }
  }
}

void SharedLoop::Help(const Part& part) {
  const TimePoint begin = loops_.clock_.Now();
  try {
    part.body(part.number);
  } catch (...) {
    MutexLock lock(mu_);
    failure_ = std::current_exception();
  }
  const auto took =
      std::chrono::duration_cast<std::chrono::nanoseconds>(loops_.clock_.Now() - begin);
  helped_nanoseconds_.fetch_add(took.count(), std::memory_order_relaxed);
  helped_parts_.fetch_add(1, std::memory_order_release);
  helped_parts_.notify_one();
}

SharedLoops::SharedLoops(int workers, Clock& clock, std::function<void()> wake)
    : clock_(clock), wake_(std::move(wake)) {
  MILLRACE_CHECK(workers <= kMostWorkers, "workers = " + std::to_string(workers));
  for (int worker = 0; worker < workers; ++worker) loops_.emplace_back(*this, worker);
}

bool SharedLoops::HelpOnce() {
  const uint64_t open = open_.load(std::memory_order_relaxed);
  if (open == 0) return false;
  for (size_t worker = 0; worker < loops_.size(); ++worker) {
    if ((open >> worker & 1) == 0) continue;
    if (const auto part = loops_[worker].Take()) {
      loops_[worker].Help(*part);
      return true;
    }
  }
  return false;
}

}  // namespace millrace::server
