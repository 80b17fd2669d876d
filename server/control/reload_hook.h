#pragma once

#include <functional>
#include <utility>

#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// What SIGHUP does, while there is somebody to do it. Thread-safe.
class ReloadHook {
 public:
  // Sets it for a scope; the end waits for a call that runs.
  class Use {
   public:
    Use(ReloadHook& hook, std::function<void()> call) : hook_(hook) { hook_.Set(std::move(call)); }
    ~Use() { hook_.Set(nullptr); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    ReloadHook& hook_;
  };

  // Does nothing when there is nothing to call.
  void Call() MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    if (call_ != nullptr) call_();
  }

 private:
  void Set(std::function<void()> call) MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    call_ = std::move(call);
  }

  Mutex mu_;
  std::function<void()> call_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
