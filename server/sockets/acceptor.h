#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "mps_runtime/base/mutex.h"
#include "server/net/address_policy.h"
#include "server/sockets/listening_socket.h"

struct pollfd;

namespace millrace {

// Accepts the connections of one address, which may be several addresses of one host, for a thread
// that polls. Goes on after failures: it listens again, and waits when the system is short of
// descriptors. One thread, but for what says otherwise.
class Acceptor {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Options {
    std::string protocol;  // for the log, such as "HTTP"
    ListenAddress address;
    int inherited = -1;  // a socket that listens already and does not block, or -1; the caller's
    std::chrono::milliseconds retry{};  // when accepting fails
  };

  explicit Acceptor(Options options);

  // Binds the address, so that no other process can; connections are refused, or wait for a file's,
  // until Listen. Unavailable says why it cannot, as of all of these.
  absl::Status Bind();
  absl::Status Listen();
  // Does both.
  absl::Status Start();
  // The real one, once it is bound; 0 for one in the file system. Any thread.
  int port() const { return port_; }
  size_t sockets() const { return listening_.size(); }
  // A socket that listens.
  int descriptor() const { return listening_.empty() ? -1 : listening_.front().descriptor(); }
  // Returns true if it listens on TCP and only this machine can connect.
  bool is_loopback() const;

  // Listens again after a failure, once it is time. Call it before each poll.
  void Resume();
  // Appends what is to be polled for input: one for each socket that listens, which is -1 while
  // nothing is accepted.
  void AddTo(std::vector<pollfd>& waits);
  // Returns true if the poll found that connections wait.
  bool IsReady(const std::vector<pollfd>& waits) const;
  // False until retry_at().
  bool accepts() const;
  TimePoint retry_at() const { return stopped() ? TimePoint::max() : accept_after_; }
  // Accepts connections that wait. `take` owns the descriptor it is given. `make_room` closes a
  // connection when the system is short of descriptors, and returns false if there is none to
  // close.
  void Accept(absl::FunctionRef<void(int descriptor)> take, absl::FunctionRef<bool()> make_room);
  // Accepts no more once it returns. New connections wait in the queues of the sockets, for other
  // processes that listen on them. Any thread.
  void Stop() MILLRACE_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    stopped_ = true;
  }
  // Connections are refused from here on.
  void Close() {
    Stop();
    listening_.clear();
  }

 private:
  bool stopped() const MILLRACE_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    return stopped_;
  }
  absl::Status BindTo(int port);
  // Returns false if nothing is accepted for now.
  bool Accept(const ListeningSocket& socket, absl::FunctionRef<void(int descriptor)> take,
              absl::FunctionRef<bool()> make_room) MILLRACE_EXCLUDES(mu_);

  const Options options_;
  int port_ = 0;
  mutable Mutex mu_;  // held while a connection is accepted, so that Stop waits for that
  bool stopped_ MILLRACE_GUARDED_BY(mu_) = false;
  std::vector<ListeningSocket> listening_;
  size_t first_wait_ = 0;  // the sockets' first place among the waits
  size_t waits_ = 0;
  TimePoint accept_after_{};           // not before, since it failed
  bool short_of_descriptors_ = false;  // since the last accepted; one log line each time
};

}  // namespace millrace
