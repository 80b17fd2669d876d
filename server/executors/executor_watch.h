#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "mps_runtime/base/clock.h"
#include "server/executors/executor_link.h"
#include "server/executors/wait_limit.h"
#include "server/logging/logging.h"

// The thread that listens to an executor asks these from time to time.
namespace millrace::server {

// Asks an executor from time to time whether it lives. Used by the thread that listens to it.
class ExecutorHeartbeat {
 public:
  ExecutorHeartbeat(ExecutorLink& link, Clock& clock, Duration answer_limit)
      : link_(link), clock_(clock), silence_(clock, answer_limit) {}

  // Asks if it is time to. Returns false if the executor has said nothing for too long.
  bool Beat() {
    if (silence_.IsOver()) return false;
    const TimePoint now = clock_.Now();
    if (now - asked_ < kInterval || !link_.alive()) return true;
    asked_ = now;
    link_.Tell(PingOrder{.log_level = logging::Level()});
    return true;
  }
  // Call it when the executor has said something.
  void OnMessage() { silence_.Begin(); }

 private:
  static constexpr Duration kInterval = std::chrono::seconds(1);

  ExecutorLink& link_;
  Clock& clock_;
  WaitLimit silence_;
  TimePoint asked_ = clock_.Now();
};

// Looks at the memory of an executor from time to time. Used by the thread that listens to it.
class MemoryWatch {
 public:
  MemoryWatch(const ExecutorLink& link, Clock& clock) : link_(link), clock_(clock) {}

  // Returns the bytes if it is time to.
  std::optional<uint64_t> Look() {
    const TimePoint now = clock_.Now();
    if (now < next_) return std::nullopt;
    next_ = now + kInterval;
    const uint64_t bytes = link_.MemoryBytes();
    return bytes == 0 ? std::nullopt : std::optional(bytes);
  }

 private:
  static constexpr Duration kInterval = std::chrono::milliseconds(250);

  const ExecutorLink& link_;
  Clock& clock_;
  TimePoint next_ = clock_.Now();
};

}  // namespace millrace::server
