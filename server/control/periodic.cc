#include "server/control/periodic.h"

#include <exception>
#include <utility>

#include "server/logging/logging.h"

namespace millrace::server {

Periodic::Periodic(Duration interval, std::function<void()> call, Clock& clock)
    : interval_(interval), call_(std::move(call)), clock_(clock), thread_([this] { Run(); }) {}

Periodic::~Periodic() {
  {
    MutexLock lock(mu_);
    stop_ = true;
  }
  stopped_.NotifyAll();
  thread_.join();
}

void Periodic::Run() {
  MutexLock lock(mu_);
  for (;;) {
    const TimePoint next = clock_.Now() + interval_;
    while (!stop_ && clock_.Now() < next) clock_.WaitUntil(stopped_, mu_, next);
    if (stop_) return;
    lock.Unlock();
    try {
      call_();
    } catch (const std::exception& error) {  // such as std::bad_alloc; the next call may succeed
      logging::Error("periodic work failed", {{"reason", error.what()}});
    }
    lock.Lock();
  }
}

}  // namespace millrace::server
