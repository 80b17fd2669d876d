#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::server {

class Admission;

// A place among the admitted requests, held from admission until gRPC has sent the last of the
// reply or given the call up. Move-only; may be released on any thread. The Admission must outlive
// it.
class Ticket {
 public:
  Ticket() = default;
  Ticket(Ticket&& other) noexcept : admission_(std::exchange(other.admission_, nullptr)) {}
  Ticket& operator=(Ticket&& other) noexcept {
    std::swap(admission_, other.admission_);
    return *this;
  }
  ~Ticket();

  bool held() const { return admission_ != nullptr; }

 private:
  friend class Admission;
  explicit Ticket(Admission* admission) : admission_(admission) {}

  Admission* admission_ = nullptr;
};

// Bounds the requests that are admitted and not yet answered, and admits none for good once the
// server drains. Thread-safe; TryEnter never blocks.
class Admission {
 public:
  // max_requests >= 1.
  explicit Admission(int64_t max_requests) : max_requests_(max_requests) {}
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // Fails with RESOURCE_EXHAUSTED when full and UNAVAILABLE once closed.
  absl::StatusOr<Ticket> TryEnter();
  // Refuses all later requests. Idempotent.
  void Close();
  // Waits until no ticket is held or the deadline passes; returns true when none is held. Call it
  // after Close.
  bool WaitUntilEmpty(std::chrono::steady_clock::time_point deadline) MILLRACE_EXCLUDES(mu_);

  int64_t in_flight() const { return in_flight_.load(std::memory_order_relaxed); }
  bool closed() const { return closed_.load(std::memory_order_relaxed); }

 private:
  friend class Ticket;
  void Leave() MILLRACE_EXCLUDES(mu_);

  const int64_t max_requests_;
  std::atomic<int64_t> in_flight_{0};
  std::atomic<bool> closed_{false};
  Mutex mu_;  // only for waiting; the counters need no lock
  CondVar empty_;
};

}  // namespace millrace::server
