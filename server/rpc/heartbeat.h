#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "mps_runtime/base/clock.h"
#include "server/rpc/mailbox.h"

namespace millrace::server {

// Tells for how long a thread that delivers mail has not come round to it: it is sent one mail at a
// time. One thread checks; the mail must not be on its way when this is destroyed.
class Heartbeat final : private Mail {
 public:
  // post: hands the mail to the thread.
  explicit Heartbeat(std::function<void(Mail&)> post) : post_(std::move(post)) {}
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  // Returns the time for which the mail has been on its way; zero if it has arrived, and then sends
  // the next one.
  Duration Check(TimePoint now) {
    if (!arrived_.load(std::memory_order_acquire)) return now - sent_;
    sent_ = now;
    arrived_.store(false, std::memory_order_relaxed);
    post_(*this);
    return Duration::zero();
  }

 private:
  void Deliver() override { arrived_.store(true, std::memory_order_release); }

  const std::function<void(Mail&)> post_;
  std::atomic<bool> arrived_{true};
  TimePoint sent_;
};

}  // namespace millrace::server
