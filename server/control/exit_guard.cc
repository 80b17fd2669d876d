#include "server/control/exit_guard.h"

#include <unistd.h>

#include <utility>

#include "server/logging/logging.h"

namespace millrace::server {

void ExitGuard::ExitNow(int status) {
  logging::Shutdown();
  _exit(status);
}

ExitGuard::ExitGuard(Exit exit, Clock& clock)
    : exit_(std::move(exit)), clock_(clock), thread_([this] { Run(); }) {}

ExitGuard::~ExitGuard() {
  {
    MutexLock lock(mu_);
    disarmed_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void ExitGuard::Arm(Duration grace, int status, std::string why) {
  const TimePoint due = clock_.Now() + grace;
  MutexLock lock(mu_);
  if (order_ && order_->due <= due) return;
  order_ = Order{due, status, std::move(why)};
  changed_.NotifyAll();
}

void ExitGuard::Run() {
  MutexLock lock(mu_);
  while (!disarmed_) {
    if (!order_) {
      changed_.Wait(mu_);
    } else if (clock_.Now() < order_->due) {
      clock_.WaitUntil(changed_, mu_, order_->due);
    } else {
      break;
    }
  }
  if (disarmed_) return;
  const Order order = *order_;
  lock.Unlock();
  logging::Error("ended without an orderly stop",
                 {{"reason", order.why}, {"exit_status", order.status}});
  exit_(order.status);
}

}  // namespace millrace::server
