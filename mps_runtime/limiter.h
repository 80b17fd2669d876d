#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <optional>
#include <utility>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::runtime {

class Limiter;

// The right to have one forward in flight on the device. The destructor returns it, on any thread.
// It must not outlive its limiter.
class DevicePermit {
 public:
  DevicePermit(DevicePermit&& other) noexcept : limiter_(std::exchange(other.limiter_, nullptr)) {}
  DevicePermit& operator=(DevicePermit&& other) noexcept {
    DevicePermit previous(std::move(*this));
    limiter_ = std::exchange(other.limiter_, nullptr);
    return *this;
  }
  DevicePermit(const DevicePermit&) = delete;
  DevicePermit& operator=(const DevicePermit&) = delete;
  ~DevicePermit();

 private:
  friend class Limiter;
  explicit DevicePermit(Limiter* limiter) : limiter_(limiter) {}

  Limiter* limiter_;  // null after a move
};

// Bounds the number of forwards in flight. A returned permit goes straight to the thread that has
// waited longest, so no thread overtakes a waiter. Thread-safe. Without contention an acquire and a
// release are one compare-and-swap each.
class Limiter {
 public:
  // permits >= 1, else std::invalid_argument. Deadlines are read on the given clock.
  explicit Limiter(int permits, Clock& clock = Clock::Real());
  Limiter(const Limiter&) = delete;
  Limiter& operator=(const Limiter&) = delete;
  // Every permit must have been returned.
  ~Limiter();

  // Blocks until a permit is free.
  DevicePermit Acquire();
  // Blocks until a permit is free or the deadline has passed. A free permit is granted even when
  // the deadline is already past.
  std::optional<DevicePermit> AcquireUntil(TimePoint deadline);
  // Never blocks.
  std::optional<DevicePermit> TryAcquire();

  int permits() const { return permits_; }
  int in_use() const;
  int waiting() const;
  // Returns the largest in_use() so far.
  int peak_in_use() const { return peak_.load(std::memory_order_relaxed); }

 private:
  friend class DevicePermit;

  struct Waiter {
    CondVar granted_cv;
    bool granted = false;
  };

  bool TryTake();
  bool TakeOrWait(std::optional<TimePoint> deadline) MILLRACE_EXCLUDES(mu_);
  void Release() MILLRACE_EXCLUDES(mu_);
  void HandOver() MILLRACE_EXCLUDES(mu_);
  void NotePeak(int in_use);

  const int permits_;
  Clock& clock_;
  // The low half counts permits in use, the high half waiters. There are waiters only while every
  // permit is in use, and their number changes under mu_ only.
  std::atomic<uint64_t> state_{0};
  std::atomic<int> peak_{0};

  Mutex mu_;
  std::list<Waiter> waiters_ MILLRACE_GUARDED_BY(mu_);  // longest first
};

inline DevicePermit::~DevicePermit() {
  if (limiter_ != nullptr) limiter_->Release();
}

}  // namespace millrace::runtime
