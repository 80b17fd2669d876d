#include "server/sockets/acceptor.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/logging/logging.h"
#include "server/sockets/socket_address.h"

namespace millrace {
namespace {

using std::chrono::steady_clock;

constexpr int kAcceptedAtOnce = 64;  // so that those that are open have their turn

bool IsShortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

bool IsOfOneConnection(int error) {
  return error == EINTR || error == ECONNABORTED || error == EPROTO || error == EPERM;
}

}  // namespace

Acceptor::Acceptor(Options options) : options_(std::move(options)) {}

absl::Status Acceptor::BindTo(int port) {
  listening_.clear();
  if (options_.inherited >= 0) {
    MILLRACE_ASSIGN_OR_RETURN(ListeningSocket shared, ListeningSocket::Share(options_.inherited));
    listening_.push_back(std::move(shared));
    return absl::OkStatus();
  }
  ListenAddress address = options_.address;
  address.tcp.port = port;
  MILLRACE_ASSIGN_OR_RETURN(listening_, ListeningSocket::BindAll(address));
  return absl::OkStatus();
}

absl::Status Acceptor::Bind() {
  MILLRACE_RETURN_IF_ERROR(BindTo(options_.address.tcp.port));
  port_ = listening_.front().port();
  return absl::OkStatus();
}

absl::Status Acceptor::Listen() {
  for (const ListeningSocket& socket : listening_) {
    MILLRACE_RETURN_IF_ERROR(socket.Listen());
  }
  return absl::OkStatus();
}

absl::Status Acceptor::Start() {
  absl::Status status = Bind();
  return status.ok() ? Listen() : status;
}

bool Acceptor::is_loopback() const {
  return std::ranges::all_of(listening_, [](const ListeningSocket& socket) {
    const std::optional<HostPort> address = LocalAddress(socket.descriptor());
    return address && IsLoopbackHost(address->host);
  });
}

bool Acceptor::accepts() const {
  return !stopped() && !listening_.empty() && accept_after_ <= steady_clock::now();
}

void Acceptor::AddTo(std::vector<pollfd>& waits) {
  first_wait_ = waits.size();
  waits_ = listening_.size();
  const bool accepted = accepts();
  for (const ListeningSocket& socket : listening_)
    waits.push_back({.fd = accepted ? socket.descriptor() : -1, .events = POLLIN, .revents = 0});
}

bool Acceptor::IsReady(const std::vector<pollfd>& waits) const {
  return std::any_of(waits.begin() + static_cast<ptrdiff_t>(first_wait_),
                     waits.begin() + static_cast<ptrdiff_t>(first_wait_ + waits_),
                     [](const pollfd& wait) { return wait.revents != 0; });
}

void Acceptor::Resume() {
  if (stopped() || !listening_.empty() || steady_clock::now() < accept_after_) return;
  absl::Status status = BindTo(port_);
  if (status.ok()) status = Listen();
  if (status.ok()) return;
  listening_.clear();
  accept_after_ = steady_clock::now() + options_.retry;
}

void Acceptor::Accept(absl::FunctionRef<void(int descriptor)> take,
                      absl::FunctionRef<bool()> make_room) {
  for (const ListeningSocket& socket : listening_) {
    if (Accept(socket, take, make_room)) continue;
    accept_after_ = steady_clock::now() + options_.retry;
    return;
  }
}

bool Acceptor::Accept(const ListeningSocket& socket, absl::FunctionRef<void(int descriptor)> take,
                      absl::FunctionRef<bool()> make_room) {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    int descriptor = -1;
    int error = 0;
    {
      const MutexLock lock(mu_);
      // It may have been told to stop while it waited.
      if (stopped_) return true;
      descriptor = socket.Accept();
      error = errno;
    }
    if (descriptor < 0) {
      if (error == EAGAIN || error == EWOULDBLOCK) return true;
      if (IsOfOneConnection(error)) continue;
      if (IsShortage(error)) {
        if (i > 0) return true;  // the system says so even where no further connection waits
        if (!std::exchange(short_of_descriptors_, true)) {
          logging::Warning(
              StrCat(options_.protocol, " is short of descriptors, silent connections give way"),
              {{"port", port_}, {"reason", std::strerror(error)}});
        }
        if (make_room()) continue;
      } else {
        logging::Error(StrCat(options_.protocol, " cannot accept connections, listening again"),
                       {{"port", port_}, {"reason", std::strerror(error)}});
        listening_.clear();
      }
      return false;
    }
    if (i == 0) short_of_descriptors_ = false;
    take(descriptor);
  }
  return true;
}

}  // namespace millrace
