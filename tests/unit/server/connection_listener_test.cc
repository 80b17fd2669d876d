#include "server/connection_listener.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <semaphore>
#include <string>
#include <vector>

#include "server/http2/connection_guard.h"
#include "server/sockets/listening_socket.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/socket_client.h"
#include "tests/unit/server/http2/frames.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Waits for a byte; 0: the connection has ended.
char Read(testing::SocketClient& client) {
  const std::string bytes = client.Receive();
  return bytes.empty() ? '\0' : bytes[0];
}

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
    testing::SocketClient unlucky((*listener)->port());
    EXPECT_EQ(Read(unlucky), '\0');
    testing::SocketClient lucky((*listener)->port());
    EXPECT_EQ(Read(lucky), 'x');
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
  auto sockets = ListeningSocket::BindAll({{"127.0.0.1", 0}, ""});
  ASSERT_TRUE(sockets.ok()) << sockets.status();
  ListeningSocket* const socket = &sockets->front();
  ASSERT_TRUE(socket->Listen().ok());
  auto first = Answering(socket->descriptor(), 'a');
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ((*first)->port(), socket->port());
  testing::SocketClient served(socket->port());
  EXPECT_EQ(Read(served), 'a');

  (*first)->StopAccepting();
  testing::SocketClient waits(socket->port());
  (*first)->Stop();
  first->reset();
  testing::SocketClient waits_too(socket->port());

  auto second = Answering(socket->descriptor(), 'b');
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(Read(waits), 'b');
  EXPECT_EQ(Read(waits_too), 'b');
}

#ifdef __linux__
TEST(ConnectionListenerTest, AConnectionWhoseClientHasLeftIsNotServed) {
  auto sockets = ListeningSocket::BindAll({{"127.0.0.1", 0}, ""});
  ASSERT_TRUE(sockets.ok()) << sockets.status();
  ASSERT_TRUE(sockets->front().Listen().ok());
  for (int i = 0; i < 3; ++i) testing::SocketClient(sockets->front().port()).Send("something");
  testing::SocketClient stays(sockets->front().port());
  auto listener = ConnectionListener::Share(sockets->front().descriptor(), {});
  ASSERT_TRUE(listener.ok()) << listener.status();
  std::atomic<int> served = 0;
  const absl::Status started = (*listener)->Start([&](int, int fd) {
    ++served;
    EXPECT_EQ(write(fd, "x", 1), 1);
    close(fd);
  });
  ASSERT_TRUE(started.ok()) << started;
  EXPECT_EQ(Read(stays), 'x');
  EXPECT_EQ(served, 1);
}

// Returns the descriptors that are open, but for that of the list itself.
std::vector<int> OpenDescriptors() {
  std::vector<int> open;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    open.push_back(std::atoi(entry.path().filename().c_str()));
  }
  std::erase_if(open, [](int one) { return fcntl(one, F_GETFD) < 0; });
  std::ranges::sort(open);
  return open;
}

TEST(ConnectionListenerTest, AStartThatFailsLeavesNothingOpen) {
  rlimit usual = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  const ConnectionLimits limits = {.connections = 1};  // for which the limit below is enough
  const std::vector<int> before = OpenDescriptors();
  for (int free = 0; free < 6; ++free) {
    auto listener = ConnectionListener::Bind("127.0.0.1:0", limits);
    ASSERT_TRUE(listener.ok()) << listener.status();
    const rlimit low = {.rlim_cur = 600, .rlim_max = usual.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    std::vector<int> taken;
    for (int one = dup(0); one >= 0; one = dup(0)) taken.push_back(one);
    for (int i = 0; i < free; ++i) {
      close(taken.back());
      taken.pop_back();
    }
    const absl::Status started = (*listener)->Start([](int, int fd) { close(fd); });
    EXPECT_EQ(started.ok(), free >= 2) << free;
    listener->reset();
    for (const int one : taken) close(one);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
    EXPECT_EQ(OpenDescriptors(), before) << free;
  }
}

TEST(ConnectionListenerTest, NoChildInheritsWhatItOpens) {
  const std::vector<int> before = OpenDescriptors();
  auto listener = ConnectionListener::Bind("127.0.0.1:0", {});
  ASSERT_TRUE(listener.ok()) << listener.status();
  std::binary_semaphore served(0);
  int grpc_fd = -1;
  ASSERT_TRUE((*listener)
                  ->Start([&](int, int fd) {
                    grpc_fd = fd;
                    served.release();
                  })
                  .ok());
  testing::SocketClient client((*listener)->port());
  served.acquire();
  int opened = 0;
  for (const int one : OpenDescriptors()) {
    if (std::ranges::find(before, one) != before.end()) continue;
    ++opened;
    sockaddr_in local = {};
    socklen_t size = sizeof(local);
    const bool is_of_client = getsockname(one, reinterpret_cast<sockaddr*>(&local), &size) == 0 &&
                              ntohs(local.sin_port) != (*listener)->port();
    EXPECT_TRUE(is_of_client || (fcntl(one, F_GETFD) & FD_CLOEXEC) != 0) << one;
  }
  EXPECT_GE(opened, 6);  // a pipe, the socket, the connection twice, the client's end
  close(grpc_fd);
}
#endif

// gRPC is the test, which reads from the clients when it wants to.
class FullListenerTest : public ::testing::Test {
 protected:
  FullListenerTest() {
    ConnectionGuard::Process().Configure({.all_calls = 10}, /*tls=*/false);
    ConnectionGuard::Process().SetHooked();
    auto listener = ConnectionListener::Bind("127.0.0.1:0",
                                             {.connections = 3, .connections_per_peer = 3}, clock_);
    EXPECT_TRUE(listener.ok()) << listener.status();
    listener_ = *std::move(listener);
    EXPECT_TRUE(listener_
                    ->Start([this](int, int fd) {
                      grpc_fds_.push_back(fd);
                      served_.release();
                    })
                    .ok());
  }
  ~FullListenerTest() override {
    listener_->Stop();
    for (const int fd : grpc_fds_) close(fd);
  }

  // Opens a connection that gRPC gets, a second after the one before.
  std::unique_ptr<testing::SocketClient> Open() {
    clock_.Advance(seconds(1));
    auto client = std::make_unique<testing::SocketClient>(listener_->port());
    served_.acquire();
    return client;
  }
  // Has gRPC read the beginnings of calls from a connection.
  void BeginCalls(size_t connection, int calls) {
    std::string bytes = kPreface;
    for (int i = 0; i < calls; ++i)
      bytes += Frame(kHeadersFrame, kEndHeadersFlag, static_cast<uint32_t>(2 * i + 1), 100);
    const std::array<iovec, 1> pieces = {{{bytes.data(), bytes.size()}}};
    ConnectionGuard::Process().OnReceived(grpc_fds_[connection], pieces, bytes.size());
  }
  static uint64_t closed_for_calls() {
    return ConnectionGuard::Process().counts().closed[static_cast<size_t>(FrameAbuse::kStreams)];
  }

  testing::FakeClock clock_;
  std::counting_semaphore<> served_{0};
  std::vector<int> grpc_fds_;  // the listener's thread adds one before it releases served_
  std::unique_ptr<ConnectionListener> listener_;
};

TEST_F(FullListenerTest, TheOldestThatBeganNoCallMakesRoom) {
  const auto first = Open();
  const auto second = Open();
  const auto third = Open();
  BeginCalls(0, 1);
  const uint64_t made_room = ConnectionGuard::Process().counts().made_room;
  const auto fourth = Open();
  EXPECT_TRUE(second->Closed());
  EXPECT_EQ(ConnectionGuard::Process().counts().made_room, made_room + 1);
  BeginCalls(2, 1);
  BeginCalls(3, 1);
  clock_.Advance(seconds(1));
  EXPECT_TRUE(testing::SocketClient(listener_->port()).Closed());
}

TEST_F(FullListenerTest, ANewOneHasAWhileToBegin) {
  const auto first = Open();
  const auto second = Open();
  const auto third = Open();
  BeginCalls(0, 1);
  BeginCalls(1, 1);
  clock_.Advance(milliseconds(999));
  EXPECT_TRUE(testing::SocketClient(listener_->port()).Closed());
  clock_.Advance(milliseconds(1));
  const auto fourth = Open();
  EXPECT_TRUE(third->Closed());
}

TEST_F(FullListenerTest, CallsOfAConnectionThatMadeRoomCountNoLonger) {
  const auto first = Open();
  const auto second = Open();
  const auto third = Open();
  const auto fourth = Open();
  EXPECT_TRUE(first->Closed());
  const uint64_t closed = closed_for_calls();
  // Now gRPC reads what had come before the end.
  BeginCalls(0, 10);
  BeginCalls(2, 1);
  EXPECT_EQ(closed_for_calls(), closed);
}

}  // namespace
}  // namespace millrace::server
