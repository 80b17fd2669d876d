#include "server/connection_listener.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <utility>

#include "models/core/strings.h"
#include "server/http2/connection_guard.h"
#include "server/logging/logging.h"
#include "server/net/address_policy.h"
#include "server/sockets/nonblocking.h"

namespace millrace::server {
namespace {

constexpr int kAcceptPauseMs = 100;

// Besides the sockets and the connections, the thread waits to stop and to end a connection.
constexpr size_t kOwnWaits = 2;

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

// Returns the earlier of two times in milliseconds, of which -1 never comes.
int Earlier(int one, int other) {
  return one < 0 || other < 0 ? std::max(one, other) : std::min(one, other);
}

int UpToMs(Duration time) {
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(time).count());
}

}  // namespace

absl::StatusOr<std::unique_ptr<ConnectionListener>> ConnectionListener::Bind(
    const std::string& address, const ConnectionLimits& limits) {
  const absl::StatusOr<ListenAddress> parsed = ParseListenAddress(address);
  if (!parsed.ok()) return parsed.status();
  absl::StatusOr<std::vector<ListeningSocket>> sockets = ListeningSocket::BindAll(*parsed);
  if (!sockets.ok()) {
    return absl::UnavailableError(
        StrCat("--grpc-address ", address, ": ", Message(sockets.status())));
  }
  return std::unique_ptr<ConnectionListener>(new ConnectionListener(*std::move(sockets), limits));
}

absl::StatusOr<std::unique_ptr<ConnectionListener>> ConnectionListener::Share(
    int descriptor, const ConnectionLimits& limits) {
  absl::StatusOr<ListeningSocket> socket = ListeningSocket::Share(descriptor);
  if (!socket.ok())
    return absl::UnavailableError(StrCat("--grpc-address: ", Message(socket.status())));
  std::vector<ListeningSocket> sockets;
  sockets.push_back(*std::move(socket));
  return std::unique_ptr<ConnectionListener>(new ConnectionListener(std::move(sockets), limits));
}

ConnectionListener::~ConnectionListener() { Stop(); }

absl::Status ConnectionListener::Start(Handler handler) {
  RaiseDescriptorLimit(limits_.connections);
  for (const ListeningSocket& socket : sockets_) {
    if (absl::Status status = socket.Listen(); !status.ok())
      return absl::UnavailableError(StrCat("--grpc-address: ", Message(status)));
  }
  if (pipe(stop_pipe_) != 0) {
    return absl::UnavailableError(
        StrCat("--grpc-address: cannot open a pipe: ", std::string(std::strerror(errno))));
  }
  for (const int end : stop_pipe_) fcntl(end, F_SETFD, FD_CLOEXEC);
  // So that the thread needs no memory of its own.
  const size_t first = kOwnWaits + sockets_.size();
  open_.reserve(static_cast<size_t>(limits_.connections));
  waits_.reserve(static_cast<size_t>(limits_.connections) + first);
  if (absl::Status status = wake_.Open(); !status.ok()) return status;
  ConnectionGuard::Process().SetOnMustEnd([this] { wake_.Wake(); });
  thread_ = std::thread([this, handler = std::move(handler)] { Run(handler); });
  return absl::OkStatus();
}

void ConnectionListener::Stop() {
  if (!thread_.joinable()) return;
  ConnectionGuard::Process().SetOnMustEnd(nullptr);
  close(std::exchange(stop_pipe_[1], -1));  // the reader sees the end of the pipe
  thread_.join();
  close(std::exchange(stop_pipe_[0], -1));
}

void ConnectionListener::Run(const Handler& handler) {
  ConnectionGuard& guard = ConnectionGuard::Process();
  bool pause = false;
  const size_t first = kOwnWaits + sockets_.size();  // of the connections in waits_
  for (;;) {
    const TimePoint now = Clock::Real().Now();
    // A connection has to acknowledge the SETTINGS from its hand-over on, so that comes first.
    const int next_hand_over = HandOver(handler, now);
    const int next_turn = Earlier(next_hand_over, EndWatched(now));
    guard.SetOpen(open_.size());
    // A connection that cannot be accepted keeps the socket readable, so the socket is left alone
    // for a while; connections that hang up still free descriptors.
    const bool accepts = !pause && accepts_.load(std::memory_order_relaxed);
    waits_.clear();
    waits_.push_back({.fd = stop_pipe_[0], .events = POLLIN, .revents = 0});
    waits_.push_back({.fd = wake_.descriptor(), .events = POLLIN, .revents = 0});
    for (const ListeningSocket& socket : sockets_)
      waits_.push_back({.fd = accepts ? socket.descriptor() : -1, .events = POLLIN, .revents = 0});
    for (const OpenConnection& one : open_)
      waits_.push_back({.fd = one.fd, .events = kPollClosed, .revents = 0});
    const int wait_ms = Earlier(next_turn, pause ? kAcceptPauseMs : -1);
    if (poll(waits_.data(), waits_.size(), wait_ms) < 0) continue;  // interrupted by a signal
    if (waits_[0].revents != 0) break;
    if (waits_[1].revents != 0) wake_.Drain();
    size_t kept = 0;
    for (size_t i = 0; i < open_.size(); ++i) {
      if (waits_[first + i].revents != 0) {
        if (open_[i].watched != nullptr) guard.OnEnded(*open_[i].watched, Clock::Real().Now());
        close(open_[i].fd);
      } else {
        open_[kept++] = open_[i];
      }
    }
    open_.resize(kept);
    pause = false;
    for (size_t i = 0; i < sockets_.size() && !pause; ++i) {
      // It may have been told to stop while it waited.
      pause = waits_[kOwnWaits + i].revents != 0 && accepts_.load(std::memory_order_relaxed) &&
              !Accept(sockets_[i]);
    }
  }
  // This ends the connection although others hold its descriptor: the client sees UNAVAILABLE.
  for (const OpenConnection& one : open_) {
    shutdown(one.fd, SHUT_RDWR);
    close(one.fd);
  }
  open_.clear();
  guard.SetOpen(0);
}

bool ConnectionListener::Accept(const ListeningSocket& listening) {
  for (;;) {
    sockaddr_storage address = {};
    socklen_t size = sizeof(address);
    const int fd = accept(listening.descriptor(), reinterpret_cast<sockaddr*>(&address), &size);
    if (fd < 0) {
      const int error = errno;
      if (error != EMFILE && error != ENFILE && error != ENOBUFS && error != ENOMEM) return true;
      LogOnce("connection not accepted", {{"reason", std::strerror(error)}});
      return false;
    }
    bool admitted = false;
    try {
      admitted = Admit(fd, address);
    } catch (const std::exception& error) {
      LogOnce("connection refused: it cannot be admitted", {{"reason", error.what()}});
    }
    if (!admitted) Refuse(fd);
  }
}

bool ConnectionListener::Admit(int fd, const sockaddr_storage& address) {
  const Peer peer(address);
  const TimePoint now = Clock::Real().Now();
  if (!MakePlace(peer, now)) return false;
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  open_.push_back({.fd = fd,
                   .peer = peer,
                   .accepted = now,
                   .due = now + ConnectionGuard::Process().Delay(peer, now)});
  return true;
}

void ConnectionListener::Refuse(int fd) {
  ConnectionGuard::Process().CountRefused();
  close(fd);
}

bool ConnectionListener::MakePlace(const Peer& peer, TimePoint now) {
  if (static_cast<int>(open_.size()) < std::min(limits_.connections, limits_.connections_per_peer))
    return true;
  for (OpenConnection& one : open_) {
    one.began = !one.waits && (one.watched == nullptr || one.watched->calls() != 0);
  }
  const Place place = FindPlace(open_, peer, limits_, now);
  switch (place.answer) {
    case Place::Answer::kFree:
      return true;
    case Place::Answer::kMakeRoom:
      ConnectionGuard::Process().CountMadeRoom();
      shutdown(open_[place.closed].fd, SHUT_RDWR);  // gRPC sees the connection's end
      close(open_[place.closed].fd);
      open_.erase(open_.begin() + static_cast<ptrdiff_t>(place.closed));
      return true;
    case Place::Answer::kTooMany:
      LogOnce("connection refused: too many are open", {{"max_connections", limits_.connections}});
      return false;
    case Place::Answer::kTooManyOfPeer:
      LogOnce(
          "connection refused: too many of its peer are open",
          {{"peer", peer.ToString()}, {"max_connections_per_peer", limits_.connections_per_peer}});
      return false;
  }
  return false;
}

int ConnectionListener::HandOver(const Handler& handler, TimePoint now) {
  Duration next = Duration::max();
  std::erase_if(open_, [&](OpenConnection& one) {
    if (!one.waits) return false;
    if (one.due <= now) return !HandOver(handler, one);
    next = std::min(next, one.due - now);
    return false;
  });
  return next == Duration::max() ? -1 : UpToMs(next);
}

int ConnectionListener::EndWatched(TimePoint now) {
  Duration next = Duration::max();
  for (OpenConnection& one : open_) {
    if (one.watched == nullptr) continue;
    if (!one.watched->must_end()) {
      if (one.watched->acknowledged()) continue;
      const TimePoint end = one.due + limits_.handshake_timeout;
      if (now < end) {
        next = std::min(next, end - now);
        continue;
      }
      if (one.watched->calls() != 0) ConnectionGuard::Process().OnUnacknowledged(*one.watched, now);
    }
    ConnectionGuard::Process().OnEnded(*one.watched, now);
    shutdown(one.fd, SHUT_RDWR);  // the next poll finds that it has ended
    one.watched = nullptr;
  }
  return next == Duration::max() ? -1 : UpToMs(next);
}

bool ConnectionListener::HandOver(const Handler& handler, OpenConnection& connection) {
  const int fd = connection.fd;
  const int duplicate = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (duplicate < 0) {
    LogOnce("connection refused: no descriptor to watch it", {{"reason", std::strerror(errno)}});
    Refuse(fd);
    return false;
  }
  connection.fd = duplicate;
  connection.waits = false;
  try {
    WatchedConnection* const watched = ConnectionGuard::Process().Watch(fd, connection.peer);
    // One that had this descriptor has ended, which the next poll finds: not this one's end.
    for (OpenConnection& one : open_) {
      if (one.watched == watched) one.watched = nullptr;
    }
    connection.watched = watched;
    handler(sockets_.front().descriptor(), fd);
  } catch (const std::exception& error) {
    LogOnce("connection refused: it cannot be served", {{"reason", error.what()}});
    close(duplicate);
    Refuse(fd);
    return false;
  }
  refusing_ = false;
  return true;
}

void ConnectionListener::LogOnce(const char* message, logging::Fields fields) {
  if (!std::exchange(refusing_, true)) logging::Warning(message, fields);
}

}  // namespace millrace::server
