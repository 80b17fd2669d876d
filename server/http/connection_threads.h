#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "httplib.h"
#include "mps_runtime/base/mutex.h"

namespace millrace {

// Bounds the connections of one server: one may be taken on while fewer than max are open.
// Thread-safe. It outlives the threads, which the library destroys by itself.
class ConnectionGate {
 public:
  explicit ConnectionGate(int max) : free_(max) {}

  // Waits for a free place; not once closed, so that what was accepted already can be ended.
  void Enter() MILLRACE_EXCLUDES(mu_);
  void Leave() MILLRACE_EXCLUDES(mu_);
  // Lets a waiting Enter go on.
  void Close() MILLRACE_EXCLUDES(mu_);

 private:
  Mutex mu_;
  CondVar changed_;
  int free_ MILLRACE_GUARDED_BY(mu_);
  bool closed_ MILLRACE_GUARDED_BY(mu_) = false;
};

// Runs each connection on a thread. Threads are made when a connection finds none idle and stay
// until shutdown; the gate bounds them. Where the system gives no further thread, a connection
// waits for one of those there are, or is served on the accepting thread when there is none.
// enqueue is called by the accepting thread alone, and waiting in it leaves further connections in
// the kernel's backlog.
class ConnectionThreads final : public httplib::TaskQueue {
 public:
  using Spawn = std::function<std::thread(std::function<void()>)>;

  // `accept_ended` is called once no further connection comes, before those open are waited for.
  // `spawn` starts a thread and throws when it cannot.
  explicit ConnectionThreads(
      ConnectionGate& gate, std::function<void()> accept_ended = [] {},
      Spawn spawn = [](std::function<void()> body) { return std::thread(std::move(body)); })
      : gate_(gate), accept_ended_(std::move(accept_ended)), spawn_(std::move(spawn)) {}
  ~ConnectionThreads() override = default;

  // bool in newer versions of the library, void in older ones.
  using EnqueueResult =
      decltype(std::declval<httplib::TaskQueue&>().enqueue(std::declval<std::function<void()>>()));
  EnqueueResult enqueue(std::function<void()> connection) override MILLRACE_EXCLUDES(mu_);
  // Waits for the connections that are open.
  void shutdown() override MILLRACE_EXCLUDES(mu_);

 private:
  // Whether a thread more is there.
  bool AddThread();
  void Run() MILLRACE_EXCLUDES(mu_);
  // The connection that is next, which the caller then runs without the lock and reports by Served.
  std::function<void()> TakeNext() MILLRACE_REQUIRES(mu_);
  void Served() MILLRACE_REQUIRES(mu_);

  ConnectionGate& gate_;
  const std::function<void()> accept_ended_;
  const Spawn spawn_;

  Mutex mu_;
  CondVar work_;
  std::deque<std::function<void()>> connections_ MILLRACE_GUARDED_BY(mu_);
  size_t running_ MILLRACE_GUARDED_BY(mu_) = 0;
  bool stopping_ MILLRACE_GUARDED_BY(mu_) = false;
  // Of the accepting thread.
  std::vector<std::thread> threads_;  // joined by shutdown
  bool short_of_threads_ = false;     // since the last that started; one log line each time
};

}  // namespace millrace
