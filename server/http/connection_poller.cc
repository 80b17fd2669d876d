#include "server/http/connection_poller.h"

#include <sys/socket.h>

#include <exception>
#include <utility>

#include "server/http/request_head.h"
#include "server/sockets/nonblocking.h"

namespace millrace {
namespace {

constexpr size_t kReceivedAtOnce = 4096;

}  // namespace

// A connection that waits for its next request.
class ConnectionPoller::Waiting final : public PollClient {
 public:
  Waiting(ConnectionPoller& poller, std::unique_ptr<Connection> connection)
      : poller_(poller), connection_(std::move(connection)), since_(poller.loop_.clock().Now()) {}

  int descriptor() const override { return connection_->socket.get(); }
  const Peer& peer() const override { return connection_->peer; }
  TimePoint due() const override {
    const Options& options = poller_.options_;
    return since_ + (has_part() ? options.head_timeout : options.keep_alive_timeout);
  }
  std::optional<TimePoint> IdleSince(TimePoint) const override { return since_; }
  bool Serve(short events, TimePoint now) override;
  void ThrowAwayRest() { Linger(since_); }

 private:
  // Returns true if a part of the request's head has come.
  bool has_part() const { return !connection_->received.empty(); }
  // Refuses the request. Returns true, since the connection lingers.
  bool Refuse(int status, TimePoint now) {
    poller_.SendRefusal(descriptor(), connection_->received, peer(), status);
    connection_->received.clear();
    Linger(now);
    return true;
  }

  ConnectionPoller& poller_;
  std::unique_ptr<Connection> connection_;  // null once it is handed on, the end of this
  size_t searched_ = 0;                     // so much of what came has no end of a head
  TimePoint since_;                         // it waits, or the head's first byte came
};

bool ConnectionPoller::Waiting::Serve(short events, TimePoint now) {
  if (now >= due()) {
    if (has_part()) return Refuse(408, now);
    if (events == 0) return false;
  }
  std::string& received = connection_->received;
  if (events != 0) {
    char bytes[kReceivedAtOnce];
    const ssize_t count = recv(descriptor(), bytes, sizeof(bytes), MSG_DONTWAIT);
    if (count < 0 && WouldBlock()) return true;
    if (count <= 0) return false;
    const bool begins = !has_part();
    received.append(bytes, static_cast<size_t>(count));
    DropEmptyLines(received);
    if (begins && has_part()) since_ = now;
  }
  if (!MayBeginRequest(received)) return Refuse(400, now);
  const size_t head = HeadSize(received, searched_);
  searched_ = received.size();
  if ((head != 0 ? head : received.size()) > poller_.options_.max_head_bytes)
    return Refuse(431, now);
  if (head == 0) return true;
  return !poller_.dispatch_(connection_) && Refuse(503, now);
}

ConnectionPoller::ConnectionPoller(Options options, Dispatch dispatch, Refusal refusal,
                                   Clock& clock)
    : options_(std::move(options)),
      dispatch_(std::move(dispatch)),
      refusal_(std::move(refusal)),
      loop_(clock),
      group_(loop_, {.protocol = "HTTP",
                     .accept = Acceptor::Options{.protocol = "HTTP",
                                                 .address = options_.address,
                                                 .inherited = options_.inherited,
                                                 .retry = options_.accept_retry},
                     .max_connections = options_.max_connections,
                     .max_connections_of_peer = options_.max_connections_of_peer,
                     .open =
                         [this](FileDescriptor socket, const Peer& peer, PeerPlaces::Place place) {
                           return std::make_unique<Waiting>(
                               *this, std::make_unique<Connection>(std::move(socket), peer,
                                                                   std::move(place)));
                         },
                     .refuse =
                         [this](int descriptor, const Peer& peer, PeerPlaces::Full) {
                           SendRefusal(descriptor, /*received=*/"", peer, 503);
                         }}) {}

void ConnectionPoller::Return(std::unique_ptr<Connection> connection,
                              Connection::Fate fate) noexcept {
  if (fate == Connection::Fate::kClose) return;
  try {
    auto waiting = std::make_unique<Waiting>(*this, std::move(connection));
    if (fate == Connection::Fate::kLinger) waiting->ThrowAwayRest();
    group_.Add(std::move(waiting));
  } catch (const std::exception&) {  // there is no memory for it
  }
}

void ConnectionPoller::SendRefusal(int descriptor, std::string_view received, const Peer& peer,
                                   int status) const {
  const std::string answer = refusal_(received, peer, status);
  send(descriptor, answer.data(), answer.size(), kSendFlags);
}

}  // namespace millrace
