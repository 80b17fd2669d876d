#include "mps_runtime/base/clock.h"

namespace millrace {
namespace {

class RealClock final : public Clock {
 public:
  TimePoint Now() const override { return std::chrono::steady_clock::now(); }
  bool WaitUntil(CondVar& cv, Mutex& mu, TimePoint deadline) override MILLRACE_REQUIRES(mu) {
    return cv.WaitUntil(mu, deadline);
  }
};

}  // namespace

Clock& Clock::Real() {
  static RealClock clock;
  return clock;
}

}  // namespace millrace
