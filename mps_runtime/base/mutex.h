#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "mps_runtime/base/thread_annotations.h"

namespace millrace {

// std::mutex with the annotations that libstdc++ lacks, so that clang checks GUARDED_BY.
// Thread-safe by nature; not recursive.
class MILLRACE_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() MILLRACE_ACQUIRE() { mu_.lock(); }
  void Unlock() MILLRACE_RELEASE() { mu_.unlock(); }
  bool TryLock() MILLRACE_TRY_ACQUIRE(true) { return mu_.try_lock(); }

 private:
  friend class CondVar;
  std::mutex mu_;
};

// Holds a Mutex for a scope. Unlock() and Lock() allow a gap in it; the destructor releases only
// what is held.
class MILLRACE_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mu) MILLRACE_ACQUIRE(mu) : mu_(mu) { mu_.Lock(); }
  ~MutexLock() MILLRACE_RELEASE() {
    if (held_) mu_.Unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void Unlock() MILLRACE_RELEASE() {
    held_ = false;
    mu_.Unlock();
  }
  void Lock() MILLRACE_ACQUIRE() {
    mu_.Lock();
    held_ = true;
  }

 private:
  Mutex& mu_;
  bool held_ = true;
};

// Condition variable for Mutex. Waits may wake spuriously: always wait in a loop on the guarded
// condition (a predicate lambda would hide the guarded reads from the analysis, so there is none).
class CondVar {
 public:
  void Wait(Mutex& mu) MILLRACE_REQUIRES(mu) {
    std::unique_lock<std::mutex> lock(mu.mu_, std::adopt_lock);
    cv_.wait(lock);
    lock.release();
  }
  // Returns false when the deadline passed without a notification.
  bool WaitUntil(Mutex& mu, std::chrono::steady_clock::time_point deadline) MILLRACE_REQUIRES(mu) {
    std::unique_lock<std::mutex> lock(mu.mu_, std::adopt_lock);
    const bool notified = cv_.wait_until(lock, deadline) == std::cv_status::no_timeout;
    lock.release();
    return notified;
  }
  void NotifyOne() { cv_.notify_one(); }
  void NotifyAll() { cv_.notify_all(); }

 private:
  std::condition_variable cv_;
};

}  // namespace millrace
