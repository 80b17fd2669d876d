#include "mps_runtime/limiter.h"

#include <stdexcept>
#include <string>

#include "mps_runtime/base/check.h"

namespace millrace::runtime {
namespace {

constexpr uint64_t kOneInUse = 1;
constexpr uint64_t kOneWaiter = uint64_t{1} << 32;

int InUse(uint64_t state) { return static_cast<int>(state & (kOneWaiter - 1)); }
int Waiters(uint64_t state) { return static_cast<int>(state >> 32); }

}  // namespace

Limiter::Limiter(int permits, Clock& clock) : permits_(permits), clock_(clock) {
  if (permits < 1) {
    throw std::invalid_argument("permits = " + std::to_string(permits) + ": allowed are 1 and up");
  }
}

Limiter::~Limiter() {
  MILLRACE_CHECK(state_.load() == 0, "limiter destroyed while permits are in use");
}

DevicePermit Limiter::Acquire() {
  if (!TryTake()) TakeOrWait(std::nullopt);
  return DevicePermit(this);
}

std::optional<DevicePermit> Limiter::AcquireUntil(TimePoint deadline) {
  if (!TryTake() && !TakeOrWait(deadline)) return std::nullopt;
  return DevicePermit(this);
}

std::optional<DevicePermit> Limiter::TryAcquire() {
  if (!TryTake()) return std::nullopt;
  return DevicePermit(this);
}

int Limiter::in_use() const { return InUse(state_.load(std::memory_order_relaxed)); }
int Limiter::waiting() const { return Waiters(state_.load(std::memory_order_relaxed)); }

bool Limiter::TryTake() {
  uint64_t state = state_.load(std::memory_order_relaxed);
  // Waiters come first. If there is one, every permit is in use anyway.
  while (Waiters(state) == 0 && InUse(state) < permits_) {
    if (state_.compare_exchange_weak(state, state + kOneInUse, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
      NotePeak(InUse(state) + 1);
      return true;
    }
  }
  return false;
}

bool Limiter::TakeOrWait(std::optional<TimePoint> deadline) {
  MutexLock lock(mu_);
  // One exchange either takes a permit or registers a waiter, so that a release cannot slip in
  // between and be missed.
  uint64_t state = state_.load(std::memory_order_relaxed);
  for (;;) {
    const bool take = Waiters(state) == 0 && InUse(state) < permits_;
    const uint64_t next = state + (take ? kOneInUse : kOneWaiter);
    if (!state_.compare_exchange_weak(state, next, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
      continue;
    }
    if (take) {
      NotePeak(InUse(next));
      return true;
    }
    break;
  }

  const auto self = waiters_.emplace(waiters_.end());
  bool in_time = true;
  while (!self->granted && in_time) {
    if (deadline) {
      in_time = clock_.WaitUntil(self->granted_cv, mu_, *deadline);
    } else {
      self->granted_cv.Wait(mu_);
    }
  }
  // HandOver has already adjusted the count when it granted a permit; a waiter that gives up
  // adjusts it here.
  const bool granted = self->granted;
  if (!granted) state_.fetch_sub(kOneWaiter, std::memory_order_relaxed);
  waiters_.erase(self);
  return granted;
}

void Limiter::Release() {
  uint64_t state = state_.load(std::memory_order_relaxed);
  while (Waiters(state) == 0) {
    if (state_.compare_exchange_weak(state, state - kOneInUse, std::memory_order_release,
                                     std::memory_order_relaxed)) {
      return;
    }
  }
  HandOver();
}

void Limiter::HandOver() {
  MutexLock lock(mu_);
  for (Waiter& waiter : waiters_) {
    if (waiter.granted) continue;  // has its permit, but has not run yet
    waiter.granted = true;
    state_.fetch_sub(kOneWaiter, std::memory_order_relaxed);
    // Notify under the lock: the waiter, and its condition variable, may be gone as soon as the
    // lock is released.
    waiter.granted_cv.NotifyOne();
    return;
  }
  // The last waiter gave up between the caller's look and the lock.
  state_.fetch_sub(kOneInUse, std::memory_order_release);
}

void Limiter::NotePeak(int in_use) {
  int peak = peak_.load(std::memory_order_relaxed);
  while (peak < in_use && !peak_.compare_exchange_weak(peak, in_use, std::memory_order_relaxed)) {
  }
}

}  // namespace millrace::runtime
