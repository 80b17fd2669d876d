#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// Ends the process when its orderly end takes too long, as when a forward or a disk hangs.
// Thread-safe.
class ExitGuard {
 public:
  // Ends the process with this status. It does not return, except in tests.
  using Exit = std::function<void(int status)>;
  // Writes out the log as long as it is being read, then ends the process at once, without any
  // teardown.
  static void ExitNow(int status);

  explicit ExitGuard(Exit exit = ExitNow, Clock& clock = Clock::Real());
  ~ExitGuard();  // disarms
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;

  // Ends the process with this status when `grace` is over, and logs why. Of two calls the one that
  // is due first applies.
  void Arm(Duration grace, int status, std::string why) MILLRACE_EXCLUDES(mu_);

 private:
  struct Order {
    TimePoint due;
    int status = 0;
    std::string why;
  };

  void Run() MILLRACE_EXCLUDES(mu_);

  const Exit exit_;
  Clock& clock_;
  Mutex mu_;
  CondVar changed_;
  std::optional<Order> order_ MILLRACE_GUARDED_BY(mu_);
  bool disarmed_ MILLRACE_GUARDED_BY(mu_) = false;
  std::thread thread_;  // declared last: it uses everything above
};

}  // namespace millrace::server
