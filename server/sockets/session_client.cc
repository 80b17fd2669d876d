#include "server/sockets/session_client.h"

#include <sys/socket.h>

#include <string_view>

#include "server/sockets/nonblocking.h"

namespace millrace {
namespace {

// From one connection, before others have their turn.
constexpr size_t kReceivedAtOnce = size_t{16} << 10;

}  // namespace

std::function<void()> SessionClient::Changed() const {
  return [wake = wake_, changed = changed_] {
    if (!changed->exchange(true)) wake->Wake();
  };
}

short SessionClient::WantedEvents() const {
  short events = session_->wants_bytes() ? POLLIN : kPollClosed;
  // The client may have ended its side behind bytes that are not handled yet.
  if (session_->has_more()) events = 0;
  if (!session_->unsent().empty()) events |= POLLOUT;
  return events;
}

bool SessionClient::Serve(short events, TimePoint now) {
  changed_->exchange(false);
  if (events != 0) last_served_ = now;
  bool client_is_there = (events & (POLLERR | POLLNVAL)) == 0;
  if (client_is_there && (events & (POLLIN | POLLHUP)) != 0 && session_->wants_bytes())
    client_is_there = Receive();
  else if ((events & (POLLHUP | kPollClosed)) != 0)
    client_is_there = false;
  // Also for one that only ends its own side, and counts as gone: what is ready is sent.
  session_->Advance();
  if (!Send() || !client_is_there) return false;
  if (!session_->over()) return true;
  if (!options_.lingers) return false;
  if (session_->unsent().empty()) Linger(now);
  return true;
}

bool SessionClient::Receive() {
  char bytes[kReceivedAtOnce];
  const ssize_t count = recv(descriptor(), bytes, sizeof(bytes), MSG_DONTWAIT);
  if (count < 0) return WouldBlock();
  if (count > 0) session_->Receive({bytes, static_cast<size_t>(count)});
  return count > 0;
}

bool SessionClient::Send() {
  bool sent = false;
  while (!session_->unsent().empty()) {
    const std::string_view unsent = session_->unsent();
    const ssize_t count = send(descriptor(), unsent.data(), unsent.size(), kSendFlags);
    if (count < 0 && !WouldBlock()) return false;
    if (count < 0) break;
    session_->Sent(static_cast<size_t>(count));
    sent = true;
  }
  if (sent) session_->Advance();
  return true;
}

void SessionClient::Drain() {
  session_->Drain();
  *changed_ = true;
}

void SessionClient::GoAway() {
  session_->GoAway();
  *changed_ = true;
}

}  // namespace millrace
