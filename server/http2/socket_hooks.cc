// gRPC has no interface to inspect a client's bytes before its HTTP/2 transport acts on them, nor
// those that it sends. This file therefore defines the functions by which gRPC reads and writes:
// the dynamic linker prefers the program's symbols to a library's, and these call the next ones in
// its order.

#include <dlfcn.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <cerrno>
#include <string_view>

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

bool IsGrpcServer(SSL* session) {
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

}  // namespace
}  // namespace millrace::server

using millrace::server::ConnectionGuard;

extern "C" ssize_t recvmsg(int fd, msghdr* message, int flags) {
  static const auto next = millrace::server::Next<decltype(&::recvmsg)>("recvmsg");
  const ssize_t size = next(fd, message, flags);
  if (size > 0 && (flags & (MSG_PEEK | MSG_ERRQUEUE)) == 0 &&
      !ConnectionGuard::Process().OnReceived(fd, {message->msg_iov, message->msg_iovlen},
                                             static_cast<size_t>(size))) {
    errno = ECONNRESET;
    return -1;
  }
  return size;
}

extern "C" int SSL_read(SSL* session, void* buffer, int size) {
  static const auto next = millrace::server::Next<decltype(&::SSL_read)>("SSL_read");
  const int read = next(session, buffer, size);
  if (read <= 0 || !millrace::server::IsGrpcServer(session)) return read;
  auto* const connection = millrace::server::ConnectionOf(session);
  if (connection == nullptr ||
      !ConnectionGuard::Process().OnReceived(
          *connection, {static_cast<char*>(buffer), static_cast<size_t>(read)})) {
    return -1;
  }
  return read;
}

extern "C" ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  static const auto next = millrace::server::Next<decltype(&::sendmsg)>("sendmsg");
  const ssize_t size = next(fd, message, flags);
  if (size > 0) {
    const int error = errno;
    ConnectionGuard::Process().OnSent(fd, {message->msg_iov, message->msg_iovlen},
                                      static_cast<size_t>(size));
    errno = error;
  }
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
