// gRPC has no interface to inspect a client's bytes before its HTTP/2 transport acts on them, nor
// those that it sends. This file therefore defines the functions by which gRPC reads and writes:
// the dynamic linker prefers the program's symbols to a library's, and these call the next ones in
// its order. It defines those by which gRPC waits for sockets too, so that connections are read in
// turns.

#include <dlfcn.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "server/http2/connection_guard.h"

namespace millrace::server {
namespace {

template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// Returns the index under which a session stores its connection.
int SessionIndex() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

bool IsGrpcServer(const SSL* session) {
  if (SSL_is_server(session) == 0) return false;
  const unsigned char* protocol = nullptr;
  unsigned int length = 0;
  SSL_get0_alpn_selected(session, &protocol, &length);
  return std::string_view(reinterpret_cast<const char*>(protocol), length) == "h2";
}

// Returns null for a session whose hello was split into records as no TLS library does.
WatchedConnection* ConnectionOf(SSL* session) {
  auto* connection = static_cast<WatchedConnection*>(SSL_get_ex_data(session, SessionIndex()));
  if (connection == nullptr) {
    TlsRandom random;
    if (SSL_get_client_random(session, random.data(), random.size()) == random.size())
      connection = ConnectionGuard::Process().FindTls(random);
    if (connection != nullptr) SSL_set_ex_data(session, SessionIndex(), connection);
  }
  return connection;
}

decltype(&::epoll_ctl) NextEpollCtl() {
  static const auto next = Next<decltype(&::epoll_ctl)>("epoll_ctl");
  return next;
}

decltype(&::SSL_get_error) NextSslError() {
  static const auto next = Next<decltype(&::SSL_get_error)>("SSL_get_error");
  return next;
}

// Has the calls of a connection end in turns, of which the client's bytes, or their end, are at
// fault. Returns false if they are few.
bool EndInTurns(WatchedConnection& connection) {
  if (!ConnectionGuard::Process().BeginEnd(connection)) return false;
  shutdown(connection.descriptor(), SHUT_RD);  // gRPC must find it readable at each turn
  ERR_clear_error();
  return true;
}

// Returns what gRPC reads of a session that ends, and throws away what it has read of its socket.
int ReadEnd(SSL* session, WatchedConnection& connection, std::span<char> bytes) {
  std::array<char, 4096> rest;
  while (BIO_read(SSL_get_rbio(session), rest.data(), static_cast<int>(rest.size())) > 0) {
  }
  const size_t written = ConnectionGuard::Process().ReadEnd(connection, bytes);
  return written != 0 ? static_cast<int>(written) : -1;
}

// Has the kernel report at once that a connection is ready, so that gRPC sees it in the next round.
bool PollAgain(int fd, const PollEntry& entry) {
  epoll_event event = {.events = entry.events, .data = {.u64 = entry.data}};
  return NextEpollCtl()(entry.epoll, EPOLL_CTL_MOD, fd, &event) == 0;
}

// The connection of the session that this thread has read last, if gRPC is about to give it the
// byte of ConnectionGuard::ReadMark.
thread_local WatchedConnection* marked_connection = nullptr;

// Reads decrypted bytes of a session whose connection has a turn. Returns -1 if it has none but
// bytes for it.
int ReadInTurns(decltype(&::SSL_read) read, SSL* session, WatchedConnection& connection,
                std::span<char> bytes) {
  ConnectionGuard& guard = ConnectionGuard::Process();
  const size_t allowed = std::min(guard.AllowedDecrypted(connection), bytes.size());
  const bool has_bytes = SSL_pending(session) > 0 || BIO_pending(SSL_get_rbio(session)) > 0;
  int size = -1;
  if (allowed != 0 || !has_bytes) {
    size = read(session, bytes.data(), static_cast<int>(std::max<size_t>(allowed, 1)));
    if (size <= 0 && NextSslError()(session, size) == SSL_ERROR_WANT_READ)
      guard.OnDecrypted(connection);
  } else if (const auto entry = guard.Withhold(connection)) {
    PollAgain(connection.descriptor(), *entry);
  }
  marked_connection = guard.IsMarked(connection) ? &connection : nullptr;
  return size;
}

// Returns true if the client sends nothing more. gRPC gives up a connection where its bytes end,
// and so all calls that they make.
bool HasHungUp(int fd) {
  pollfd polled = {.fd = fd, .events = POLLRDHUP, .revents = 0};
  return poll(&polled, 1, /*timeout=*/0) == 1 && (polled.revents & POLLRDHUP) != 0;
}

// Returns how many bytes of a socket have come and were not read.
size_t Unread(int fd) {
  int bytes = 0;
  return ioctl(fd, FIONREAD, &bytes) == 0 ? static_cast<size_t>(bytes) : 0;
}

// Reads no more than so many bytes.
ssize_t ReceiveSome(decltype(&::recvmsg) receive, int fd, msghdr& message, int flags,
                    size_t allowed) {
  constexpr size_t kMostPieces = 64;  // as gRPC gives
  std::array<iovec, kMostPieces> pieces;
  const std::span given(message.msg_iov, std::min<size_t>(message.msg_iovlen, kMostPieces));
  size_t count = 0;
  for (; count < given.size() && allowed != 0; ++count) {
    pieces[count] = given[count];
    pieces[count].iov_len = std::min(pieces[count].iov_len, allowed);
    allowed -= pieces[count].iov_len;
  }
  msghdr some = message;
  some.msg_iov = pieces.data();
  some.msg_iovlen = count;
  const ssize_t size = receive(fd, &some, flags);
  some.msg_iov = message.msg_iov;
  some.msg_iovlen = message.msg_iovlen;
  message = some;
  return size;
}

}  // namespace
}  // namespace millrace::server

using millrace::server::ConnectionGuard;

extern "C" ssize_t recvmsg(int fd, msghdr* message, int flags) {
  static const auto next = millrace::server::Next<decltype(&::recvmsg)>("recvmsg");
  if ((flags & (MSG_PEEK | MSG_ERRQUEUE)) != 0) return next(fd, message, flags);
  ConnectionGuard& guard = ConnectionGuard::Process();
  millrace::server::PollEntry entry;
  size_t allowed = guard.Allowed(fd, entry);
  if (allowed == 0) {
    if (millrace::server::PollAgain(fd, entry)) {
      errno = EAGAIN;
      return -1;
    }
    allowed = std::numeric_limits<size_t>::max();
  }
  const std::span<const iovec> pieces(message->msg_iov, message->msg_iovlen);
  ssize_t size = -1;
  int error = ECONNRESET;
  if (!guard.IsEnding(fd)) {
    // Calls that nobody waits for are not begun.
    const bool over = guard.IsWatched(fd) && millrace::server::HasHungUp(fd);
    if (over) guard.OnHungUp(fd, millrace::server::Unread(fd));
    if (!over && guard.ReadMark(fd, pieces) != 0) {
      message->msg_controllen = 0;
      return 1;
    }
    size = over ? 0 : millrace::server::ReceiveSome(next, fd, *message, flags, allowed);
    error = errno;
    if (size < 0 && (error == EAGAIN || error == EINTR)) return size;
    if (size > 0) {
      const size_t shown = guard.OnReceived(fd, pieces, static_cast<size_t>(size));
      if (shown == static_cast<size_t>(size)) return size;
      size = -1;
      error = ECONNRESET;
      // gRPC gets to know of the end in turns, so that it must find the connection readable.
      if (guard.BeginEnd(fd)) shutdown(fd, SHUT_RD);
      if (shown != 0) return static_cast<ssize_t>(shown);
    } else {
      if (!over) guard.OnHungUp(fd, 0);
      guard.BeginEnd(fd);
    }
  }
  if (const size_t written = guard.ReadEnd(fd, pieces); written != 0)
    return static_cast<ssize_t>(written);
  errno = error;
  return size;
}

extern "C" int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) {
  if (operation == EPOLL_CTL_ADD && event != nullptr)
    ConnectionGuard::Process().OnPolled(
        fd, {.epoll = epoll, .events = event->events, .data = event->data.u64});
  return millrace::server::NextEpollCtl()(epoll, operation, fd, event);
}

extern "C" int epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
  static const auto next = millrace::server::Next<decltype(&::epoll_wait)>("epoll_wait");
  ConnectionGuard::EndTurn();
  const int count = next(epoll, events, most, timeout);
  ConnectionGuard& guard = ConnectionGuard::Process();
  guard.OnRound();
  // Bytes that TLS has are none of the socket's, so one whose turn comes is told by that it can be
  // written, as it can unless its client takes no answers.
  if (guard.tls()) {
    for (int i = 0; i < count; ++i) {
      if ((events[i].events & EPOLLOUT) != 0) events[i].events |= EPOLLIN;
    }
  }
  return count;
}

extern "C" int SSL_read(SSL* session, void* buffer, int size) {
  static const auto next = millrace::server::Next<decltype(&::SSL_read)>("SSL_read");
  if (!millrace::server::IsGrpcServer(session)) return next(session, buffer, size);
  auto* const connection = millrace::server::ConnectionOf(session);
  if (connection == nullptr) return -1;
  ConnectionGuard& guard = ConnectionGuard::Process();
  const std::span bytes(static_cast<char*>(buffer), static_cast<size_t>(size));
  if (guard.IsEnding(*connection)) return millrace::server::ReadEnd(session, *connection, bytes);
  const int read = millrace::server::ReadInTurns(next, session, *connection, bytes);
  size_t shown = 0;
  if (read > 0) {
    shown = guard.OnReceived(*connection, bytes.first(static_cast<size_t>(read)));
    if (shown == static_cast<size_t>(read)) return read;
  } else if (SSL_get_error(session, read) == SSL_ERROR_WANT_READ) {
    return read;
  }
  // Its bytes were abuse, are none of TLS, or are over.
  millrace::server::EndInTurns(*connection);
  if (shown != 0) return static_cast<int>(shown);
  return read > 0 ? -1 : read;
}

// gRPC gives a session what it has read right after it has read from the session.
extern "C" int BIO_write(BIO* bio, const void* data, int size) {
  static const auto next = millrace::server::Next<decltype(&::BIO_write)>("BIO_write");
  auto* const marked = std::exchange(millrace::server::marked_connection, nullptr);
  if (marked == nullptr) return next(bio, data, size);
  ConnectionGuard::Process().Unmark(*marked);
  return size;
}

// A session has nothing to read between its turns, whatever its last error was.
extern "C" int SSL_get_error(const SSL* session, int result) {
  if (result <= 0 && millrace::server::IsGrpcServer(session)) {
    auto* const connection = static_cast<millrace::server::WatchedConnection*>(
        SSL_get_ex_data(session, millrace::server::SessionIndex()));
    if (connection != nullptr && (ConnectionGuard::Process().IsEnding(*connection) ||
                                  ConnectionGuard::Process().IsWithheld(*connection)))
      return SSL_ERROR_WANT_READ;
  }
  return millrace::server::NextSslError()(session, result);
}

extern "C" ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  static const auto next = millrace::server::Next<decltype(&::sendmsg)>("sendmsg");
  const ssize_t size = next(fd, message, flags);
  const int error = errno;
  ConnectionGuard& guard = ConnectionGuard::Process();
  const std::span<const iovec> pieces(message->msg_iov, message->msg_iovlen);
  if (size > 0) {
    guard.OnSent(fd, pieces, static_cast<size_t>(size));
  } else if (size < 0 && (error == EPIPE || error == ECONNRESET)) {
    guard.OnHungUp(fd, 0);
    // Reading tells gRPC of it in turns.
    if (guard.BeginEnd(fd)) {
      return std::accumulate(pieces.begin(), pieces.end(), ssize_t{0},
                             [](ssize_t sum, const iovec& piece) {
                               return sum + static_cast<ssize_t>(piece.iov_len);
                             });
    }
  }
  errno = error;
  return size;
}

extern "C" int SSL_write(SSL* session, const void* buffer, int size) {
  static const auto next = millrace::server::Next<decltype(&::SSL_write)>("SSL_write");
  const int written = next(session, buffer, size);
  if (written <= 0 || !millrace::server::IsGrpcServer(session)) return written;
  if (auto* const connection = millrace::server::ConnectionOf(session); connection != nullptr) {
    ConnectionGuard::Process().OnSent(
        *connection, {static_cast<const char*>(buffer), static_cast<size_t>(written)});
  }
  return written;
}

namespace {

[[maybe_unused]] const bool hooked = [] {
  const bool ours = dlsym(RTLD_DEFAULT, "recvmsg") == reinterpret_cast<void*>(&recvmsg);
  if (ours) ConnectionGuard::Process().SetHooked();
  return ours;
}();

}  // namespace
