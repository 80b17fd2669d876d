#include "server/connection_listener.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <new>

#include "server/http2/connection_guard.h"
#include "server/sockets/listening_socket.h"

namespace millrace::server {
namespace {

// A client's connection to a port of this machine.
class Client {
 public:
  explicit Client(int port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~Client() { close(fd_); }

  // Waits for a byte; 0: the connection has ended.
  char Read() {
    char byte = 0;
    return read(fd_, &byte, 1) == 1 ? byte : '\0';
  }

 private:
  const int fd_ = socket(AF_INET, SOCK_STREAM, 0);
};

TEST(ConnectionListenerTest, AConnectionThatCannotBeServedCostsNoOther) {
  auto listener = ConnectionListener::Bind("127.0.0.1:0", {});
  ASSERT_TRUE(listener.ok()) << listener.status();
  std::atomic<int> seen = 0;
  const absl::Status started = (*listener)->Start([&](int, int fd) {
    if (++seen % 2 == 1) throw std::bad_alloc();
    EXPECT_EQ(write(fd, "x", 1), 1);
    close(fd);
  });
  ASSERT_TRUE(started.ok()) << started;
  const uint64_t refused = ConnectionGuard::Process().counts().refused;
  for (uint64_t i = 1; i <= 3; ++i) {
    Client unlucky((*listener)->port());
    EXPECT_EQ(unlucky.Read(), '\0');
    Client lucky((*listener)->port());
    EXPECT_EQ(lucky.Read(), 'x');
    EXPECT_EQ(ConnectionGuard::Process().counts().refused, refused + i);
  }
}

// Answers each connection with its mark.
absl::StatusOr<std::unique_ptr<ConnectionListener>> Answering(int socket, char mark) {
  auto listener = ConnectionListener::Share(socket, {});
  if (!listener.ok()) return listener.status();
  const absl::Status started = (*listener)->Start([mark](int, int fd) {
    EXPECT_EQ(write(fd, &mark, 1), 1);
    close(fd);
  });
  if (!started.ok()) return started;
  return listener;
}

TEST(ConnectionListenerTest, ConnectionsOfASharedSocketWaitForTheNextOne) {
  auto sockets = ListeningSocket::ListenAll({{"127.0.0.1", 0}, ""});
  ASSERT_TRUE(sockets.ok()) << sockets.status();
  ListeningSocket* const socket = &sockets->front();
  auto first = Answering(socket->descriptor(), 'a');
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ((*first)->port(), socket->port());
  EXPECT_EQ(Client(socket->port()).Read(), 'a');

  (*first)->StopAccepting();
  Client waits(socket->port());
  (*first)->Stop();
  first->reset();
  Client waits_too(socket->port());

  auto second = Answering(socket->descriptor(), 'b');
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(waits.Read(), 'b');
  EXPECT_EQ(waits_too.Read(), 'b');
}

}  // namespace
}  // namespace millrace::server
