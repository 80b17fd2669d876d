#pragma once

#include <chrono>
#include <deque>
#include <functional>

#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// The main thread's loop: runs what other threads post (loading and warming up a model belongs on
// the main thread) and reacts to SIGTERM and SIGINT. One at a time in a process.
class MainLoop {
 public:
  // Installs the signal handlers.
  MainLoop();
  ~MainLoop();
  MainLoop(const MainLoop&) = delete;
  MainLoop& operator=(const MainLoop&) = delete;

  // Any thread. Tasks run in order on the main thread; after CloseTasks they are destroyed without
  // a run.
  void Post(std::function<void()> task) MILLRACE_EXCLUDES(mu_);
  // Destroys what is queued and takes no more.
  void CloseTasks() MILLRACE_EXCLUDES(mu_);
  // Main thread: runs tasks until the first signal, which it returns; tasks behind it stay queued.
  int RunUntilSignal() MILLRACE_EXCLUDES(mu_);
  // Waits for the time to pass, running nothing; false when a further signal cut it short.
  bool WaitWithoutSignal(std::chrono::milliseconds time);
  // How many signals came since the loop was made.
  static int signals();

 private:
  void RunTasks() MILLRACE_EXCLUDES(mu_);

  Mutex mu_;
  std::deque<std::function<void()>> tasks_ MILLRACE_GUARDED_BY(mu_);
  bool tasks_closed_ MILLRACE_GUARDED_BY(mu_) = false;
};

}  // namespace millrace::server
