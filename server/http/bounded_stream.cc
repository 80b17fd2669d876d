#include "server/http/bounded_stream.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace millrace {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How soon a wait sees that the server stops.
constexpr milliseconds kSlice{50};
// What sending an answer may still take once the server stops.
constexpr milliseconds kStopGrace{1000};

#ifdef MSG_NOSIGNAL
constexpr int kSendFlags = MSG_NOSIGNAL | MSG_DONTWAIT;
#else
constexpr int kSendFlags = MSG_DONTWAIT;  // the library ignores SIGPIPE
#endif

// Also behind bytes that nobody has read; elsewhere only an empty buffer shows the end.
#ifdef POLLRDHUP
constexpr short kClosed = POLLRDHUP;
#else
constexpr short kClosed = 0;
#endif

void NameAddress(const sockaddr_storage& address, socklen_t size, std::string& ip, int& port) {
  char host[NI_MAXHOST];
  char service[NI_MAXSERV];
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof(host), service,
                  sizeof(service), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return;
  }
  ip = host;
  port = std::atoi(service);
}

}  // namespace

BoundedStream::BoundedStream(socket_t socket, const Limits& limits, std::function<bool()> stopping)
    : socket_(socket), limits_(limits), stopping_(std::move(stopping)) {}

bool BoundedStream::WaitForRequest(milliseconds timeout) {
  const auto now = steady_clock::now();
  if (stopping_() || (next_ == filled_ && Fill(now + timeout) <= 0)) return false;
  request_end_ = steady_clock::now() + limits_.request_timeout;
  bytes_left_ = limits_.head_bytes;
  return true;
}

void BoundedStream::Linger(milliseconds timeout) {
  shutdown(socket_, SHUT_WR);
  const auto end = steady_clock::now() + timeout;
  while (Fill(end) > 0) {
  }
}

bool BoundedStream::WaitFor(short events, TimePoint end, bool answering) const {
  for (;;) {
    const auto now = steady_clock::now();
    if (stopping_()) {
      if (!answering) return false;
      if (!stop_end_) stop_end_ = now + kStopGrace;
      end = std::min(end, *stop_end_);
    }
    if (now >= end) return false;
    pollfd wait = {.fd = socket_, .events = events, .revents = 0};
    const auto left = std::min(kSlice, std::chrono::ceil<milliseconds>(end - now));
    if (poll(&wait, 1, static_cast<int>(left.count())) > 0) return true;
  }
}

ssize_t BoundedStream::Fill(TimePoint end) {
  for (;;) {
    if (!WaitFor(POLLIN, end, false)) return -1;
    const ssize_t count = recv(socket_, buffer_, sizeof(buffer_), MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) continue;
    next_ = 0;
    filled_ = count > 0 ? static_cast<size_t>(count) : 0;
    return count;
  }
}

bool BoundedStream::Gone() const {
  pollfd look = {.fd = socket_, .events = kClosed, .revents = 0};
  if (poll(&look, 1, 0) > 0 && (look.revents & (kClosed | POLLERR | POLLHUP)) != 0) return true;
  char byte = 0;
  return recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

bool BoundedStream::is_readable() const {
  return bytes_left_ > 0 && (next_ < filled_ || WaitFor(POLLIN, request_end_, false));
}

bool BoundedStream::is_writable() const {
  return WaitFor(POLLOUT, steady_clock::now() + limits_.write_timeout, true);
}

ssize_t BoundedStream::read(char* bytes, size_t size) {
  if (bytes_left_ == 0) return -1;
  if (next_ == filled_) {
    if (const ssize_t count = Fill(request_end_); count <= 0) return count;
  }
  const size_t count = std::min({size, filled_ - next_, bytes_left_});
  std::memcpy(bytes, buffer_ + next_, count);
  next_ += count;
  bytes_left_ -= count;
  return static_cast<ssize_t>(count);
}

ssize_t BoundedStream::write(const char* bytes, size_t size) {
  const auto end = steady_clock::now() + limits_.write_timeout;
  for (;;) {
    const ssize_t count = send(socket_, bytes, size, kSendFlags);
    if (count >= 0) return count;
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return -1;
    if (!WaitFor(POLLOUT, end, true)) return -1;
  }
}

void BoundedStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getpeername(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0)
    NameAddress(address, size, ip, port);
}

void BoundedStream::get_local_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0)
    NameAddress(address, size, ip, port);
}

time_t BoundedStream::duration() const {
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - opened_).count();
}

}  // namespace millrace
