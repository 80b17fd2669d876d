#pragma once

#include <functional>
#include <utility>

#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// The action of SIGHUP, while there is an object to perform it. Thread-safe. A signal that comes
// before there is one, such as while the server starts, is acted on when there is.
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

  // Calls the action; when there is none, the next one is called as soon as it is set.
  void Call() MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    owed_ = call_ == nullptr;
    if (!owed_) call_();
  }

 private:
  void Set(std::function<void()> call) MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    call_ = std::move(call);
    if (call_ == nullptr || !owed_) return;
    owed_ = false;
    call_();
  }

  Mutex mu_;
  std::function<void()> call_ MILLRACE_GUARDED_BY(mu_);
  bool owed_ MILLRACE_GUARDED_BY(mu_) = false;  // it was called while there was no action
};

}  // namespace millrace::server
