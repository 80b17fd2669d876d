#include "tests/load/loadgen/http_calls.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mps_runtime/base/mutex.h"
#include "server/net/address_policy.h"
#include "server/sockets/nonblocking.h"
#include "server/sockets/wake_pipe.h"
#include "tests/load/loadgen/http_requests.h"
#include "tests/load/loadgen/http_response.h"

namespace millrace::loadgen {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How often calls that are past their deadlines are looked for.
constexpr milliseconds kSweep{20};
constexpr size_t kReceivedAtOnce = 64 << 10;

// Opens connections to one server.
class Target {
 public:
  explicit Target(const std::string& address) {
    const auto target = ParseHostPort(address);
    if (!target.ok()) return;
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(target->host.c_str(), std::to_string(target->port).c_str(), &hints,
                    &addresses_) != 0) {
      addresses_ = nullptr;
    }
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  ~Target() {
    if (addresses_ != nullptr) freeaddrinfo(addresses_);
  }

  // Returns a descriptor, or -1.
  int Connect() const {
    for (const addrinfo* at = addresses_; at != nullptr; at = at->ai_next) {
      const int descriptor = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
      if (descriptor < 0) continue;
      const int on = 1;
      setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      if (connect(descriptor, at->ai_addr, at->ai_addrlen) == 0) return descriptor;
      close(descriptor);
    }
    return -1;
  }

 private:
  addrinfo* addresses_ = nullptr;
};

struct Call {
  size_t input = 0;
  CallTimes times = {};
  SteadyTime deadline = {};
  CallObserver* observer = nullptr;
};

// A connection with at most one call.
struct Connection {
  int descriptor = -1;  // -1: closed
  HttpResponse response = {};
  std::optional<Call> call = {};
  bool failed = false;  // the call could not be sent
};

class HttpCaller final : public Caller {
 public:
  HttpCaller(const Options& options, Recorder& recorder, Outputs& outputs)
      : options_(options),
        recorder_(recorder),
        outputs_(outputs),
        requests_(MakeHttpRequests(options)),
        target_(options.address),
        connections_(
            static_cast<size_t>(options.open_loop() ? options.connections : options.concurrency)) {
    if (!wake_.Open().ok()) std::fprintf(stderr, "no descriptors are left\n");
    for (Connection& connection : connections_) {
      connection.descriptor = target_.Connect();
      free_.push_back(&connection);
    }
    thread_ = std::thread([this] { Run(); });
  }

  ~HttpCaller() override {
    {
      MutexLock lock(mu_);
      stopping_ = true;
    }
    wake_.Wake();
    thread_.join();
    for (const Connection& connection : connections_) {
      if (connection.descriptor >= 0) close(connection.descriptor);
    }
  }

  void Start(uint64_t index, SteadyTime intended, CallObserver& observer) override
      MILLRACE_EXCLUDES(mu_) {
    Call call{.input = index % requests_.size(), .observer = &observer};
    call.times.intended = intended;
    call.times.sent = steady_clock::now();
    call.deadline = call.times.sent + options_.deadline;
    MutexLock lock(mu_);
    if (free_.empty()) {
      waiting_.push_back(call);
      return;
    }
    Connection& connection = *free_.back();
    free_.pop_back();
    Send(connection, call);
  }

 private:
  // A call that has ended, to be counted without the lock.
  struct Ended {
    Call call;
    grpc::Status status;
  };

  // A call that cannot be sent is ended by the thread: its observer may start the next one at once,
  // which could not be sent either.
  void Send(Connection& connection, Call call) MILLRACE_REQUIRES(mu_) {
    const std::string& request = requests_[call.input];
    call.times.sent = steady_clock::now();
    connection.call = call;
    if (connection.descriptor < 0) {
      connection.descriptor = target_.Connect();
      known_ = false;
    }
    const ssize_t sent = send(connection.descriptor, request.data(), request.size(), kSendFlags);
    connection.failed = sent != static_cast<ssize_t>(request.size());
    if (connection.failed || !known_) wake_.Wake();
  }

  void Run() MILLRACE_EXCLUDES(mu_) {
    std::vector<pollfd> waits;
    std::vector<Ended> ended;
    std::string bytes(kReceivedAtOnce, '\0');
    auto next_sweep = steady_clock::now() + kSweep;
    for (;;) {
      {
        MutexLock lock(mu_);
        if (stopping_) return;
        waits.resize(connections_.size() + 1);
        for (size_t i = 0; i < connections_.size(); ++i)
          waits[i] = {.fd = connections_[i].descriptor, .events = POLLIN, .revents = 0};
        known_ = true;
      }
      waits.back() = {.fd = wake_.descriptor(), .events = POLLIN, .revents = 0};
      poll(waits.data(), waits.size(), static_cast<int>(kSweep.count()));
      if (waits.back().revents != 0) wake_.Drain();
      const auto now = steady_clock::now();
      {
        MutexLock lock(mu_);
        for (size_t i = 0; i < connections_.size(); ++i) {
          if (waits[i].revents != 0) Receive(connections_[i], waits[i].fd, bytes, ended);
          if (connections_[i].failed) End(connections_[i], Lost(), ended);
        }
        if (now >= next_sweep) {
          EndOverdue(now, ended);
          next_sweep = now + kSweep;
        }
      }
      for (const Ended& one : ended) {
        recorder_.AddCall(one.status, one.call.times);
        one.call.observer->OnCallDone();
      }
      ended.clear();
    }
  }

  static grpc::Status Lost() {
    return {grpc::StatusCode::UNAVAILABLE, "the connection was lost or could not be made"};
  }

  void Receive(Connection& connection, int descriptor, std::string& bytes,
               std::vector<Ended>& ended) MILLRACE_REQUIRES(mu_) {
    if (connection.descriptor != descriptor) return;  // it is another one by now
    const ssize_t count = recv(descriptor, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count < 0 && WouldBlock()) return;
    if (count <= 0 || !connection.call ||
        !connection.response.Feed({bytes.data(), static_cast<size_t>(count)})) {
      return End(connection, Lost(), ended);
    }
    if (!connection.response.done()) return;
    const grpc::Status status = StatusOf(connection.response);
    if (status.ok()) {
      CheckHttpAnswer(options_, connection.call->input, connection.response, recorder_, outputs_);
    }
    Finish(connection, status, ended);
  }

  // Ends what the connection carries, if anything, and closes it.
  void End(Connection& connection, const grpc::Status& status, std::vector<Ended>& ended)
      MILLRACE_REQUIRES(mu_) {
    if (connection.descriptor >= 0) close(std::exchange(connection.descriptor, -1));
    connection.failed = false;
    known_ = false;
    if (connection.call) Finish(connection, status, ended);
  }

  // Ends the connection's call; the next that waits may have the connection.
  void Finish(Connection& connection, const grpc::Status& status, std::vector<Ended>& ended)
      MILLRACE_REQUIRES(mu_) {
    ended.push_back({*std::exchange(connection.call, std::nullopt), status});
    ended.back().call.times.done = steady_clock::now();
    connection.response.Reset();
    if (waiting_.empty()) {
      free_.push_back(&connection);
      return;
    }
    const Call next = waiting_.front();
    waiting_.pop_front();
    Send(connection, next);
  }

  void EndOverdue(SteadyTime now, std::vector<Ended>& ended) MILLRACE_REQUIRES(mu_) {
    const grpc::Status late(grpc::StatusCode::DEADLINE_EXCEEDED, "no answer came in time");
    for (Connection& connection : connections_) {
      if (connection.call && connection.call->deadline <= now) End(connection, late, ended);
    }
    while (!waiting_.empty() && waiting_.front().deadline <= now) {
      ended.push_back({waiting_.front(), late});
      ended.back().call.times.done = now;
      waiting_.pop_front();
    }
  }

  const Options& options_;
  Recorder& recorder_;
  Outputs& outputs_;
  const std::vector<std::string> requests_;
  const Target target_;
  WakePipe wake_;

  Mutex mu_;
  std::vector<Connection> connections_ MILLRACE_GUARDED_BY(mu_);  // never grows
  std::vector<Connection*> free_ MILLRACE_GUARDED_BY(mu_);
  std::deque<Call> waiting_ MILLRACE_GUARDED_BY(mu_);
  bool known_ MILLRACE_GUARDED_BY(mu_) = false;  // the thread polls all open connections
  bool stopping_ MILLRACE_GUARDED_BY(mu_) = false;

  std::thread thread_;  // last
};

}  // namespace

std::unique_ptr<Caller> MakeHttpCaller(const Options& options, Recorder& recorder,
                                       Outputs& outputs) {
  return std::make_unique<HttpCaller>(options, recorder, outputs);
}

}  // namespace millrace::loadgen
