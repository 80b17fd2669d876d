#include "server/sockets/acceptor.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "models/core/strings.h"
#include "server/logging/logging.h"

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

absl::StatusOr<ListeningSocket> Acceptor::Listen(int port) const {
  return options_.inherited >= 0 ? ListeningSocket::Share(options_.inherited)
                                 : ListeningSocket::Listen(options_.host, port);
}

absl::Status Acceptor::Start() {
  absl::StatusOr<ListeningSocket> listening = Listen(options_.port);
  if (!listening.ok()) return listening.status();
  listening_ = *std::move(listening);
  port_ = listening_.port();
  return absl::OkStatus();
}

int Acceptor::descriptor() const {
  return accept_after_ <= steady_clock::now() ? listening_.descriptor() : -1;
}

void Acceptor::Resume() {
  if (listening_.descriptor() >= 0 || steady_clock::now() < accept_after_) return;
  absl::StatusOr<ListeningSocket> listening = Listen(port_);
  if (listening.ok()) {
    listening_ = *std::move(listening);
  } else {
    accept_after_ = steady_clock::now() + options_.retry;
  }
}

void Acceptor::Accept(absl::FunctionRef<void(int descriptor)> take,
                      absl::FunctionRef<bool()> make_room) {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    const int descriptor = listening_.Accept();
    if (descriptor < 0) {
      const int error = errno;
      if (error == EAGAIN || error == EWOULDBLOCK) return;
      if (IsOfOneConnection(error)) continue;
      if (IsShortage(error)) {
        if (i > 0) return;  // the system says so even where no further connection waits
        if (!std::exchange(short_of_descriptors_, true)) {
          logging::Warning(
              StrCat(options_.protocol, " is short of descriptors, silent connections give way"),
              {{"port", port_}, {"reason", std::strerror(error)}});
        }
        if (make_room()) continue;
      } else {
        logging::Error(StrCat(options_.protocol, " cannot accept connections, listening again"),
                       {{"port", port_}, {"reason", std::strerror(error)}});
        listening_.Close();
      }
      accept_after_ = steady_clock::now() + options_.retry;
      return;
    }
    if (i == 0) short_of_descriptors_ = false;
    take(descriptor);
  }
}

}  // namespace millrace
