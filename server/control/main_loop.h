#pragma once

#include <deque>
#include <functional>

#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// The main thread's loop: runs what other threads post (loading and warming up a model belongs on
// the main thread) until it is told to stop.
class MainLoop {
 public:
  MainLoop() = default;
  MainLoop(const MainLoop&) = delete;
  MainLoop& operator=(const MainLoop&) = delete;

  // Any thread. Tasks run in order on the main thread; after CloseTasks they are destroyed without
  // a run.
  void Post(std::function<void()> task) MILLRACE_EXCLUDES(mu_);
  // Any thread. Destroys what is queued and takes no more.
  void CloseTasks() MILLRACE_EXCLUDES(mu_);
  // Main thread: runs tasks until Stop; those behind it stay queued.
  void Run() MILLRACE_EXCLUDES(mu_);
  // Any thread, for good: Run returns after the task that runs.
  void Stop() MILLRACE_EXCLUDES(mu_);

 private:
  Mutex mu_;
  CondVar changed_;
  std::deque<std::function<void()>> tasks_ MILLRACE_GUARDED_BY(mu_);
  bool tasks_closed_ MILLRACE_GUARDED_BY(mu_) = false;
  bool stopped_ MILLRACE_GUARDED_BY(mu_) = false;
};

}  // namespace millrace::server
