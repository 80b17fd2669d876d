#pragma once

#include <functional>
#include <thread>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// Calls a function at a fixed interval on a thread of its own, until it is destroyed; the
// destructor waits for a running call. The first call comes after the first interval.
class Periodic {
 public:
  // Throws std::system_error when no thread can be started. The clock must outlive it.
  Periodic(Duration interval, std::function<void()> call, Clock& clock = Clock::Real());
  ~Periodic();
  Periodic(const Periodic&) = delete;
  Periodic& operator=(const Periodic&) = delete;

 private:
  void Run() MILLRACE_EXCLUDES(mu_);

  const Duration interval_;
  const std::function<void()> call_;
  Clock& clock_;

  Mutex mu_;
  CondVar stopped_;
  bool stop_ MILLRACE_GUARDED_BY(mu_) = false;

  std::thread thread_;  // declared last: it uses everything above
};

}  // namespace millrace::server
