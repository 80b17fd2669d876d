#include "server/connection_listener.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "models/core/strings.h"
#include "server/logging/logging.h"
#include "server/security/address_policy.h"

namespace millrace::server {
namespace {

#ifdef POLLRDHUP
constexpr short kClosed = POLLRDHUP;  // POLLHUP and POLLERR are always reported
#else
constexpr short kClosed = 0;
#endif

constexpr int kAcceptPauseMs = 100;

// Two descriptors a gRPC connection, gRPC's and ours, and room for all else that the process opens.
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

int BoundPort(int fd) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

// A socket bound to the address, or -1 with errno.
int BindTo(const addrinfo& address) {
  const int fd = socket(address.ai_family, address.ai_socktype, address.ai_protocol);
  if (fd < 0) return -1;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on,
             sizeof(on));  // a restart need not wait for old connections to time out
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  if (bind(fd, address.ai_addr, address.ai_addrlen) == 0 &&
      fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0) {
    return fd;
  }
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ConnectionListener>> ConnectionListener::Bind(
    const std::string& address, int max_connections) {
  const absl::StatusOr<HostPort> parsed = ParseHostPort(address);
  if (!parsed.ok()) return parsed.status();
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string service = StrCat(parsed->port);
  if (const int error = getaddrinfo(parsed->host.empty() ? nullptr : parsed->host.c_str(),
                                    service.c_str(), &hints, &found);
      error != 0) {
    return absl::UnavailableError(
        StrCat("--grpc-address ", address, ": ", std::string(gai_strerror(error))));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, freeaddrinfo);
  int fd = -1;
  for (const addrinfo* one = found; one != nullptr && fd < 0; one = one->ai_next) fd = BindTo(*one);
  if (fd < 0) {
    return absl::UnavailableError(StrCat(
        "--grpc-address ", address, ": cannot listen there: ", std::string(std::strerror(errno))));
  }
  return std::unique_ptr<ConnectionListener>(
      new ConnectionListener(fd, BoundPort(fd), max_connections));
}

ConnectionListener::~ConnectionListener() {
  Stop();
  close(fd_);
}

absl::Status ConnectionListener::Start(std::function<void(int, int)> handler) {
  RaiseDescriptorLimit(max_connections_);
  if (listen(fd_, SOMAXCONN) != 0 || pipe(stop_pipe_) != 0) {
    return absl::UnavailableError(StrCat("--grpc-address: cannot listen on port ", port_, ": ",
                                         std::string(std::strerror(errno))));
  }
  for (const int end : stop_pipe_) fcntl(end, F_SETFD, FD_CLOEXEC);
  thread_ = std::thread([this, handler = std::move(handler)] { Run(handler); });
  return absl::OkStatus();
}

void ConnectionListener::Stop() {
  if (!thread_.joinable()) return;
  close(std::exchange(stop_pipe_[1], -1));  // the reader sees the end
  thread_.join();
  close(std::exchange(stop_pipe_[0], -1));
}

void ConnectionListener::Run(const std::function<void(int, int)>& handler) {
  std::vector<pollfd> waits;
  bool pause = false;
  for (;;) {
    // A connection that cannot be accepted keeps the socket readable: it is left alone for a while,
    // and hang-ups go on freeing descriptors.
    waits.assign({{.fd = stop_pipe_[0], .events = POLLIN, .revents = 0},
                  {.fd = pause ? -1 : fd_, .events = POLLIN, .revents = 0}});
    for (const int fd : open_) waits.push_back({.fd = fd, .events = kClosed, .revents = 0});
    if (poll(waits.data(), waits.size(), pause ? kAcceptPauseMs : -1) < 0) continue;  // a signal
    if (waits[0].revents != 0) break;
    open_.clear();
    for (size_t i = 2; i < waits.size(); ++i) {
      if (waits[i].revents != 0) {
        close(waits[i].fd);
      } else {
        open_.push_back(waits[i].fd);
      }
    }
    pause = waits[1].revents != 0 && !Accept(handler);
  }
  for (const int fd : open_) close(fd);
  open_.clear();
}

bool ConnectionListener::Accept(const std::function<void(int, int)>& handler) {
  const auto log_once = [this](const char* message, logging::Field field) {
    if (!std::exchange(refusing_, true)) logging::Warning(message, {std::move(field)});
  };
  for (;;) {
    const int fd = accept(fd_, nullptr, nullptr);
    if (fd < 0) {
      const int error = errno;
      if (error != EMFILE && error != ENFILE && error != ENOBUFS && error != ENOMEM) return true;
      log_once("connection not accepted", {"reason", std::strerror(error)});
      return false;
    }
    if (static_cast<int>(open_.size()) >= max_connections_) {
      log_once("connection refused: too many are open", {"max_connections", max_connections_});
      close(fd);
      continue;
    }
    const int duplicate = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (duplicate < 0) {
      log_once("connection refused: no descriptor to watch it", {"reason", std::strerror(errno)});
      close(fd);
      continue;
    }
    refusing_ = false;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    open_.push_back(duplicate);
    handler(fd_, fd);
  }
}

}  // namespace millrace::server
