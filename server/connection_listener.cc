#include "server/connection_listener.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/http2/connection_guard.h"
#include "server/logging/logging.h"
#include "server/net/address_policy.h"
#include "server/sockets/nonblocking.h"

namespace millrace::server {
namespace {

// Honest clients take less time from their connection to their first call.
constexpr Duration kTimeToBegin = std::chrono::seconds(1);
constexpr std::chrono::milliseconds kAcceptRetry{100};

// A gRPC connection has two descriptors, gRPC's and ours; the rest is left for everything else that
// the process opens.
void RaiseDescriptorLimit(int max_connections) {
  const rlim_t wanted = 2 * static_cast<rlim_t>(max_connections) + 512;
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  const rlim_t hard = limit.rlim_max;
  limit.rlim_cur = std::min(hard, wanted);
  if (setrlimit(RLIMIT_NOFILE, &limit) == 0 && hard >= wanted) return;
  logging::Warning("fewer files may be open than --max-connections can need",
                   {{"needed", static_cast<int64_t>(wanted)},
                    {"limit", static_cast<int64_t>(hard)},
                    {"max_connections", max_connections}});
}

}  // namespace

// An accepted connection. gRPC gets a duplicate of its descriptor; this one reports a hang-up when
// either side closes.
class ConnectionListener::Client final : public PollClient {
 public:
  Client(ConnectionListener& listener, FileDescriptor socket, const Peer& peer,
         PeerPlaces::Place place)
      : listener_(listener),
        socket_(std::move(socket)),
        peer_(peer),
        place_(std::move(place)),
        accepted_(clock().Now()),
        due_(accepted_ + guard().Delay(peer, accepted_)) {
    fcntl(descriptor(), F_SETFL, fcntl(descriptor(), F_GETFL) | O_NONBLOCK);
    ShowOpen();
  }
  ~Client() override {
    if (watched_ != nullptr) guard().OnEnded(*watched_, closed_, clock().Now());
    // This ends the connection although gRPC holds its descriptor: the client sees UNAVAILABLE.
    if (!hung_up_) shutdown(descriptor(), SHUT_RDWR);
    place_ = {};
    ShowOpen();
  }

  int descriptor() const override { return socket_.get(); }
  const Peer& peer() const override { return peer_; }
  short WantedEvents() const override { return kPollClosed; }
  TimePoint due() const override {
    if (waits_) return due_ == accepted_ ? TimePoint::min() : due_;
    if (watched_ == nullptr) return TimePoint::max();
    if (watched_->must_end()) return TimePoint::min();
    return watched_->acknowledged() ? TimePoint::max() : due_ + listener_.limits_.handshake_timeout;
  }
  bool Serve(short events, TimePoint now) override {
    hung_up_ = events != 0;
    // A client that has left in good order ends one direction, and a connection that breaks is an
    // error.
    closed_ = (events & POLLHUP) != 0 && (events & POLLERR) == 0;
    if (hung_up_) return false;
    if (now < due()) return true;
    // A client that has left while it waited for its turn to be served costs gRPC nothing.
    if (waits_) return !HasLeft() && listener_.HandOver(*this);
    // Its end makes room for others, or its client has not acknowledged the SETTINGS in time.
    if (!watched_->must_end() && watched_->calls() != 0) guard().OnUnacknowledged(*watched_, now);
    return false;
  }
  std::optional<TimePoint> IdleSince(TimePoint now) const override {
    if (!waits_ && watched_ == nullptr) return std::nullopt;
    if (!waits_ && watched_->calls() != 0) return guard().IdleSince(*watched_);
    if (now - accepted_ < kTimeToBegin) return std::nullopt;
    return accepted_;
  }
  std::optional<TimePoint> LastServed() const override {
    if (watched_ == nullptr || watched_->calls() == 0) return std::nullopt;
    return guard().LastAnswer(*watched_);
  }

  void BeginWatch(WatchedConnection* watched) {
    waits_ = false;
    watched_ = watched;
  }
  // Forgets what watched it if another connection is watched there now: this one has ended, which
  // the next poll finds.
  void EndWatch(const WatchedConnection* watched) {
    if (watched_ == watched) watched_ = nullptr;
  }

 private:
  bool HasLeft() {
    pollfd polled = {.fd = descriptor(), .events = kPollClosed, .revents = 0};
    hung_up_ = poll(&polled, 1, /*timeout=*/0) == 1;
    return hung_up_;
  }
  static ConnectionGuard& guard() { return ConnectionGuard::Process(); }
  const Clock& clock() const { return listener_.loop_.clock(); }
  void ShowOpen() const { guard().SetOpen(listener_.group_.places().held()); }

  ConnectionListener& listener_;
  const FileDescriptor socket_;
  const Peer peer_;
  PeerPlaces::Place place_;
  const TimePoint accepted_;
  const TimePoint due_;                   // when it is handed to gRPC
  bool waits_ = true;                     // it has not been handed to gRPC
  WatchedConnection* watched_ = nullptr;  // null while it waits, or without hooks
  bool hung_up_ = false;
  bool closed_ = false;  // both directions
};

ConnectionListener::ConnectionListener(Acceptor::Options accept, std::string setting,
                                       const ConnectionLimits& limits, Clock& clock)
    : setting_(std::move(setting)),
      limits_(limits),
      loop_(clock),
      group_(
          loop_,
          {.protocol = accept.protocol,
           .accept = accept,
           .max_connections = static_cast<size_t>(limits.connections),
           .max_connections_of_peer = limits.connections_per_peer,
           .open =
               [this](FileDescriptor socket, const Peer& peer, PeerPlaces::Place place) {
                 return std::make_unique<Client>(*this, std::move(socket), peer, std::move(place));
               },
           .refuse = [this](int, const Peer& peer, PeerPlaces::Full full) { Refuse(peer, full); },
           .on_made_room = [] { ConnectionGuard::Process().CountMadeRoom(); }}) {}

absl::StatusOr<std::unique_ptr<ConnectionListener>> ConnectionListener::Make(
    Acceptor::Options accept, const std::string& setting, const ConnectionLimits& limits,
    Clock& clock) {
  accept.protocol = "gRPC";
  accept.retry = kAcceptRetry;
  std::unique_ptr<ConnectionListener> listener(
      new ConnectionListener(std::move(accept), setting, limits, clock));
  if (absl::Status status = listener->group_.acceptor().Bind(); !status.ok())
    return Unavailable(setting, ": ", Message(status));
  return listener;
}

absl::StatusOr<std::unique_ptr<ConnectionListener>> ConnectionListener::Bind(
    const std::string& address, const ConnectionLimits& limits, Clock& clock) {
  MILLRACE_ASSIGN_OR_RETURN(const ListenAddress parsed, ParseListenAddress(address));
  return Make({.protocol = "", .address = parsed}, StrCat("--grpc-address ", address), limits,
              clock);
}

absl::StatusOr<std::unique_ptr<ConnectionListener>> ConnectionListener::Share(
    int descriptor, const ConnectionLimits& limits, Clock& clock) {
  return Make({.protocol = "", .address = {}, .inherited = descriptor}, "--grpc-address", limits,
              clock);
}

absl::Status ConnectionListener::Start(Handler handler) {
  RaiseDescriptorLimit(limits_.connections);
  handler_ = std::move(handler);
  absl::Status status = group_.acceptor().Listen();
  if (status.ok()) status = group_.Start();
  if (!status.ok()) return Unavailable(setting_, ": ", Message(status));
  started_ = true;
  ConnectionGuard::Process().SetOnMustEnd([wake = loop_.wake_pipe()] { wake->Wake(); });
  return absl::OkStatus();
}

void ConnectionListener::Stop() {
  if (!std::exchange(started_, false)) return;
  ConnectionGuard::Process().SetOnMustEnd(nullptr);
  group_.Stop();
}

bool ConnectionListener::HandOver(Client& client) {
  ConnectionGuard& guard = ConnectionGuard::Process();
  const int fd = fcntl(client.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (fd < 0) {
    LogOnce("connection refused: no descriptor to watch it", {{"reason", std::strerror(errno)}});
    guard.CountRefused();
    return false;
  }
  try {
    WatchedConnection* const watched = guard.Watch(fd, client.peer());
    // All clients of this group are of this class.
    for (const auto& other : group_.clients()) static_cast<Client&>(*other).EndWatch(watched);
    client.BeginWatch(watched);
    handler_(group_.acceptor().descriptor(), fd);
  } catch (const std::exception& error) {
    LogOnce("connection refused: it cannot be served", {{"reason", error.what()}});
    close(fd);
    guard.CountRefused();
    return false;
  }
  refusing_ = false;
  return true;
}

void ConnectionListener::Refuse(const Peer& peer, PeerPlaces::Full full) {
  ConnectionGuard::Process().CountRefused();
  if (full == PeerPlaces::Full::kOfPeer) {
    return LogOnce(
        "connection refused: too many of its peer are open",
        {{"peer", peer.ToString()}, {"max_connections_per_peer", limits_.connections_per_peer}});
  }
  LogOnce("connection refused: too many are open", {{"max_connections", limits_.connections}});
}

void ConnectionListener::LogOnce(const char* message, logging::Fields fields) {
  if (!std::exchange(refusing_, true)) logging::Warning(message, fields);
}

}  // namespace millrace::server
