#include "server/http/bounded_stream.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/core/strings.h"
#include "server/sockets/nonblocking.h"
#include "server/sockets/socket_address.h"

namespace millrace {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How soon a wait sees that the server stops.
constexpr milliseconds kSlice{50};
// The time that sending an answer may still take once the server stops.
constexpr milliseconds kStopGrace{1000};
constexpr size_t kReadBytes = 4096;
// Small chunks of a client become chunks of at least so many bytes, so that they cost less.
constexpr size_t kLeastChunkBytes = 74;

void Name(std::optional<HostPort> address, std::string& ip, int& port) {
  if (!address) return;
  ip = std::move(address->host);
  port = address->port;
}

}  // namespace

BoundedStream::BoundedStream(socket_t socket, std::string received, size_t head_bytes,
                             const Limits& limits, std::function<bool()> stopping)
    : socket_(socket),
      limits_(limits),
      stopping_(std::move(stopping)),
      received_(std::move(received)),
      bytes_left_(head_bytes) {}

std::string BoundedStream::TakeUnread() {
  received_.erase(0, std::exchange(next_, 0));
  return std::move(received_);
}

bool BoundedStream::WaitFor(short events, TimePoint end, bool answering) const {
  for (;;) {
    const auto now = steady_clock::now();
    if (stopping_()) {
      if (!answering) return false;
      if (!stop_end_) stop_end_ = now + kStopGrace;
      end = std::min(end, *stop_end_);
    }
    pollfd wait = {.fd = socket_, .events = events, .revents = 0};
    const auto left =
        std::clamp(std::chrono::ceil<milliseconds>(end - now), milliseconds(0), kSlice);
    if (poll(&wait, 1, static_cast<int>(left.count())) > 0) return true;
    if (now >= end) return false;
  }
}

ssize_t BoundedStream::Fill() {
  received_.erase(0, std::exchange(next_, 0));
  const size_t unread = received_.size();
  for (;;) {
    if (!WaitFor(POLLIN, opened_ + limits_.body_timeout, false)) {
      timed_out_ = !stopping_();
      return -1;
    }
    received_.resize(unread + kReadBytes);
    const ssize_t count = recv(socket_, received_.data() + unread, kReadBytes, MSG_DONTWAIT);
    received_.resize(unread + (count > 0 ? static_cast<size_t>(count) : 0));
    if (count < 0 && WouldBlock()) continue;
    return count;
  }
}

size_t BoundedStream::received_body() const {
  int waiting = 0;
  if (ioctl(socket_, FIONREAD, &waiting) != 0) waiting = 0;
  return received_.size() - next_ + static_cast<size_t>(std::max(waiting, 0));
}

bool BoundedStream::ClientGone() const {
  pollfd look = {.fd = socket_, .events = kPollClosed, .revents = 0};
  if (poll(&look, 1, 0) > 0 && (look.revents & (kPollClosed | POLLERR | POLLHUP)) != 0) return true;
  char byte = 0;
  return recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

bool BoundedStream::is_readable() const {
  if (!rechunked_.empty()) return true;
  return !drained() &&
         (next_ < received_.size() || WaitFor(POLLIN, opened_ + limits_.body_timeout, false));
}

bool BoundedStream::is_writable() const {
  return WaitFor(POLLOUT, steady_clock::now() + limits_.write_timeout, true);
}

ssize_t BoundedStream::read(char* bytes, size_t size) {
  if (bytes_left_ == 0) return chunks_ ? ReadChunks(bytes, size) : -1;
  if (size > 0 && next_ == received_.size()) {
    if (const ssize_t count = Fill(); count <= 0) return count;
  }
  const size_t count = std::min({size, received_.size() - next_, bytes_left_});
  std::memcpy(bytes, received_.data() + next_, count);
  next_ += count;
  bytes_left_ -= count;
  if (bytes_left_ == 0) place_ = {};
  return static_cast<ssize_t>(count);
}

ssize_t BoundedStream::FillChunks() {
  std::string piece;
  while (piece.size() < kLeastChunkBytes && !chunks_->done()) {
    if (next_ == received_.size()) {
      if (const ssize_t count = Fill(); count <= 0) return count;
    }
    next_ += chunks_->Decode(std::string_view(received_).substr(next_), piece);
    if (chunks_->refusal() != 0) return -1;
  }
  if (!piece.empty()) rechunked_ = StrCat(absl::Hex(piece.size()), "\r\n", piece, "\r\n");
  if (chunks_->done()) {
    rechunked_ += "0\r\n\r\n";
    place_ = {};
  }
  return static_cast<ssize_t>(rechunked_.size());
}

ssize_t BoundedStream::ReadChunks(char* bytes, size_t size) {
  if (drained()) return -1;
  if (rechunked_.empty()) {
    if (const ssize_t count = FillChunks(); count <= 0) return count;
    rechunked_next_ = 0;
  }
  const size_t count = std::min(size, rechunked_.size() - rechunked_next_);
  std::memcpy(bytes, rechunked_.data() + rechunked_next_, count);
  rechunked_next_ += count;
  if (rechunked_next_ == rechunked_.size()) rechunked_.clear();
  return static_cast<ssize_t>(count);
}

ssize_t BoundedStream::write(const char* bytes, size_t size) {
  if (!std::exchange(hold_next_, false)) return Send(bytes, size);
  held_.assign(bytes, size);
  return static_cast<ssize_t>(size);
}

bool BoundedStream::SendHeld() { return held_.empty() || Send(nullptr, 0) >= 0; }

ssize_t BoundedStream::Send(const char* bytes, size_t size) {
  const auto end = steady_clock::now() + limits_.write_timeout;
  for (;;) {
    // sendmsg() does not write to what it sends.
    iovec parts[] = {{.iov_base = held_.data(), .iov_len = held_.size()},
                     {.iov_base = const_cast<char*>(bytes), .iov_len = size}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t count = sendmsg(socket_, &message, kSendFlags);
    if (count >= 0) {
      const size_t of_held = std::min(static_cast<size_t>(count), held_.size());
      held_.erase(0, of_held);
      const ssize_t rest = count - static_cast<ssize_t>(of_held);
      if (held_.empty() && (rest > 0 || size == 0)) return rest;
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return -1;
    if (!WaitFor(POLLOUT, end, true)) return -1;
  }
}

void BoundedStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  Name(PeerAddress(socket_), ip, port);
}

void BoundedStream::get_local_ip_and_port(std::string& ip, int& port) const {
  Name(LocalAddress(socket_), ip, port);
}

time_t BoundedStream::duration() const {
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - opened_).count();
}

}  // namespace millrace
