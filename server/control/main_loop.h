#pragma once

#include <deque>
#include <functional>

#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// The main thread's loop: runs the tasks that other threads post, until it is told to stop. Loading
// and warming up a model belongs on the main thread.
class MainLoop {
 public:
  MainLoop() = default;
  MainLoop(const MainLoop&) = delete;
  MainLoop& operator=(const MainLoop&) = delete;

  // Any thread. Tasks run in order on the main thread; after CloseTasks they are destroyed without
  // being run.
  void Post(std::function<void()> task) MILLRACE_EXCLUDES(mu_);
  // Any thread. Destroys the queued tasks and takes no more.
  void CloseTasks() MILLRACE_EXCLUDES(mu_);
  // Main thread. Runs tasks until Stop; later tasks stay queued.
  void Run() MILLRACE_EXCLUDES(mu_);
  // Any thread. Run returns after the running task, for good.
  void Stop() MILLRACE_EXCLUDES(mu_);

 private:
  Mutex mu_;
  CondVar changed_;
  std::deque<std::function<void()>> tasks_ MILLRACE_GUARDED_BY(mu_);
  bool tasks_closed_ MILLRACE_GUARDED_BY(mu_) = false;
  bool stopped_ MILLRACE_GUARDED_BY(mu_) = false;
};

}  // namespace millrace::server
