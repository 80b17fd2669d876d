#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "mps_runtime/base/mutex.h"
#include "server/http/connection.h"

namespace millrace {

// Serves requests, each on a thread for itself. Threads are made when a request finds none idle, at
// most max_threads, and stay until Stop; where the system gives no further one, requests wait for
// those there are. Start, Submit and Stop are for one thread at a time.
class RequestThreads {
 public:
  // Serves the next request of a connection, and says what becomes of it. Must not throw.
  using Serve = std::function<Connection::Fate(Connection&)>;
  // Takes back the connection of a request that has been served, whose place is free again. Must
  // not throw.
  using Return = std::function<void(std::unique_ptr<Connection>, Connection::Fate)>;
  // The result of waiting for the next request of a connection.
  enum class Next : uint8_t {
    kRequest,  // its head has come
    kNothing,
    kGone,  // its client has gone
  };
  // Waits a moment for it. Must not throw.
  using Await = std::function<Next(Connection&)>;
  // Starts a thread, or throws when it cannot.
  using Spawn = std::function<std::thread(std::function<void()>)>;

  RequestThreads(
      size_t max_threads, size_t max_waiting, Serve serve, Return give_back,
      Spawn spawn = [](std::function<void()> body) { return std::thread(std::move(body)); })
      : max_threads_(max_threads),
        max_waiting_(max_waiting),
        serve_(std::move(serve)),
        give_back_(std::move(give_back)),
        spawn_(std::move(spawn)) {}
  RequestThreads(const RequestThreads&) = delete;
  RequestThreads& operator=(const RequestThreads&) = delete;
  ~RequestThreads() { Stop(); }

  // Has a thread that has served a request wait for the next one of the same connection, as long as
  // no other connection waits for a thread and most threads do not do that: a client that asks
  // again at once is then served without two changes of thread. Only before Start.
  void ServeOnWith(Await await) { await_ = std::move(await); }
  // Starts the first thread. Unavailable when the system gives none.
  absl::Status Start();
  // Takes the connection. Where as many wait as may (false), or by bad_alloc, it stays the
  // caller's.
  bool Submit(std::unique_ptr<Connection>& connection) MILLRACE_EXCLUDES(mu_);
  // Drops the connections that wait, and waits for the requests that run. Idempotent.
  void Stop() MILLRACE_EXCLUDES(mu_);

 private:
  bool AddThread() noexcept;
  void Run() MILLRACE_EXCLUDES(mu_);
  // Serves the connection's requests until none comes at once.
  Connection::Fate ServeAll(Connection& connection) MILLRACE_EXCLUDES(mu_);
  // Counts a request as served. Returns true if the thread may wait for the next one.
  bool EndRequest(Connection::Fate fate) MILLRACE_EXCLUDES(mu_);
  // Ends the wait for the next request. Returns true if it is to be served.
  bool EndWait(Next next) MILLRACE_EXCLUDES(mu_);

  const size_t max_threads_;
  const size_t max_waiting_;
  const Serve serve_;
  const Return give_back_;
  const Spawn spawn_;
  Await await_;  // empty: threads do not wait for next requests

  Mutex mu_;
  CondVar work_;
  std::deque<std::unique_ptr<Connection>> waiting_ MILLRACE_GUARDED_BY(mu_);
  size_t running_ MILLRACE_GUARDED_BY(mu_) = 0;
  size_t serving_on_ MILLRACE_GUARDED_BY(mu_) = 0;  // threads that wait for a next request
  bool stopping_ MILLRACE_GUARDED_BY(mu_) = false;
  // Only the thread that submits uses these.
  std::vector<std::thread> threads_;
  bool short_of_threads_ = false;  // since the last that started; one log line each time
};

}  // namespace millrace
