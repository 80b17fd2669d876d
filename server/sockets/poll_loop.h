#pragma once

#include <poll.h>

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "server/sockets/wake_pipe.h"

namespace millrace {

class PollGroup;

// A thread that serves the connections of its PollGroups. It waits for all of them in one poll, and
// for none of them otherwise. Thread-safe.
class PollLoop {
 public:
  // clock: must outlive this.
  explicit PollLoop(Clock& clock = Clock::Real()) : clock_(clock) {}
  PollLoop(const PollLoop&) = delete;
  PollLoop& operator=(const PollLoop&) = delete;
  ~PollLoop();  // its groups must have stopped

  Clock& clock() const { return clock_; }
  // Wakes the thread. It may outlive the loop.
  const std::shared_ptr<WakePipe>& wake_pipe() const { return wake_; }

 private:
  friend class PollGroup;

  // Serves a group from now on; the first one starts the thread.
  absl::Status Add(PollGroup& group) MILLRACE_EXCLUDES(mu_);
  void Run();
  // Lets each group prepare for a poll; those that are over go. Returns false at the end.
  bool BeginTurn() MILLRACE_EXCLUDES(mu_);
  void Wait();

  Clock& clock_;
  const std::shared_ptr<WakePipe> wake_ = std::make_shared<WakePipe>();

  Mutex mu_;
  CondVar group_gone_;
  bool stopping_ MILLRACE_GUARDED_BY(mu_) = false;
  std::vector<PollGroup*> groups_ MILLRACE_GUARDED_BY(mu_);
  // Counts the pipe and what all groups may poll, so that a turn needs no memory.
  size_t most_waits_ MILLRACE_GUARDED_BY(mu_) = 1;

  // Only the loop's thread uses these members.
  std::vector<PollGroup*> turn_;  // the groups that are polled
  std::vector<pollfd> waits_;     // the pipe, then what each group has, in their order

  std::thread thread_;  // last
};

}  // namespace millrace
