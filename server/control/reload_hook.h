#pragma once

#include <functional>
#include <utility>

#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// The action of SIGHUP, while there is an object to perform it. Thread-safe.
class ReloadHook {
 public:
  // Sets the action for a scope; the end of the scope waits for a running call.
  class Use {
   public:
    Use(ReloadHook& hook, std::function<void()> call) : hook_(hook) { hook_.Set(std::move(call)); }
    ~Use() { hook_.Set(nullptr); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    ReloadHook& hook_;
  };

  // Calls the action; does nothing when there is none.
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
