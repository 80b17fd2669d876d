#pragma once

#include <deque>
#include <thread>

#include "mps_runtime/base/mutex.h"
#include "server/rpc/mailbox.h"

namespace millrace::server {

// A thread for work that would hold up a polling thread. Delivers one mail after another. Post may
// be called on any thread.
class BackgroundThread {
 public:
  BackgroundThread() : thread_([this] { Run(); }) {}
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;
  // Delivers all mail that was posted before.
  ~BackgroundThread() MILLRACE_EXCLUDES(mu_);

  void Post(Mail& mail) MILLRACE_EXCLUDES(mu_);

 private:
  void Run() MILLRACE_EXCLUDES(mu_);

  Mutex mu_;
  CondVar came_;
  std::deque<Mail*> waiting_ MILLRACE_GUARDED_BY(mu_);
  bool stopping_ MILLRACE_GUARDED_BY(mu_) = false;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace millrace::server
