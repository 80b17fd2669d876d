#include "server/sockets/acceptor.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <vector>

#include "tests/fakes/socket_client.h"

namespace millrace {
namespace {

using testing::SocketClient;

Acceptor::Options OptionsOf(int inherited = -1) {
  return {.protocol = "test",
          .address = {{"127.0.0.1", 0}, ""},
          .inherited = inherited,
          .retry = std::chrono::milliseconds(10)};
}

// Accepts what waits, and closes it. Returns how many that were.
int AcceptAll(Acceptor& acceptor) {
  int count = 0;
  acceptor.Accept(
      [&count](int descriptor) {
        close(descriptor);
        ++count;
      },
      [] { return false; });
  return count;
}

TEST(AcceptorTest, AfterAStopConnectionsWaitForOthersThatListenOnTheSocket) {
  Acceptor acceptor(OptionsOf());
  ASSERT_TRUE(acceptor.Start().ok());
  std::vector<pollfd> waits;
  acceptor.AddTo(waits);
  ASSERT_EQ(waits.size(), 1U);
  Acceptor next(OptionsOf(waits[0].fd));
  ASSERT_TRUE(next.Start().ok());
  acceptor.Stop();
  const SocketClient client(acceptor.port());
  EXPECT_EQ(AcceptAll(acceptor), 0);
  EXPECT_FALSE(acceptor.accepts());
  EXPECT_EQ(acceptor.retry_at(), Acceptor::TimePoint::max());
  waits.clear();
  acceptor.AddTo(waits);
  EXPECT_EQ(waits[0].fd, -1);
  EXPECT_EQ(AcceptAll(next), 1);
}

TEST(AcceptorTest, AStopBetweenTwoConnectionsLeavesTheSecond) {
  Acceptor acceptor(OptionsOf());
  ASSERT_TRUE(acceptor.Start().ok());
  const SocketClient first(acceptor.port());
  const SocketClient second(acceptor.port());
  int taken = 0;
  acceptor.Accept(
      [&](int descriptor) {
        close(descriptor);
        ++taken;
        acceptor.Stop();
      },
      [] { return false; });
  EXPECT_EQ(taken, 1);
}

TEST(AcceptorTest, WhatIsClosedDoesNotListenAgain) {
  Acceptor acceptor(OptionsOf());
  ASSERT_TRUE(acceptor.Start().ok());
  acceptor.Close();
  acceptor.Resume();
  EXPECT_EQ(acceptor.sockets(), 0U);
}

}  // namespace
}  // namespace millrace
