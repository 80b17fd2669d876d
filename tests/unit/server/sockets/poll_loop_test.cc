#include "server/sockets/poll_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "mps_runtime/base/mutex.h"
#include "server/sockets/poll_group.h"
#include "server/sockets/session_client.h"
#include "tests/fakes/socket_client.h"

namespace millrace {
namespace {

using testing::SocketClient;

// Records what the sessions of a test have seen. Thread-safe.
struct Seen {
  Mutex mu;
  std::set<std::thread::id> threads MILLRACE_GUARDED_BY(mu);
  std::atomic<int> advances = 0;
};

// Sends back what it gets. "busy" and "idle" change what it is; "fail" has it throw; "work" takes
// it three turns.
class EchoSession final : public ByteSession {
 public:
  EchoSession(Seen& seen, TimePoint opened) : seen_(seen), opened_(opened) {}

  void Receive(std::string_view bytes) override {
    if (bytes == "busy" || bytes == "idle") busy_ = bytes == "busy";
    if (bytes == "fail") throw std::bad_alloc();
    if (bytes == "work") turns_ = 3;
    unsent_ += bytes;
  }
  bool wants_bytes() const override { return true; }
  bool has_more() const override { return turns_ > 0; }
  void Advance() override {
    ++seen_.advances;
    if (turns_ > 0 && --turns_ == 0) unsent_ += "done";
    MutexLock lock(seen_.mu);
    seen_.threads.insert(std::this_thread::get_id());
  }
  std::string_view unsent() const override { return unsent_; }
  void Sent(size_t bytes) override { unsent_.erase(0, bytes); }
  bool over() const override { return over_; }
  TimePoint due() const override { return TimePoint::max(); }
  std::optional<TimePoint> IdleSince(TimePoint) const override {
    return busy_ ? std::nullopt : std::optional(opened_);
  }
  void Drain() override { unsent_ += "drain"; }
  void GoAway() override {
    unsent_ += "bye";
    over_ = true;
  }

 private:
  Seen& seen_;
  const TimePoint opened_;
  std::string unsent_;
  bool busy_ = false;
  bool over_ = false;
  int turns_ = 0;
};

// Serves EchoSessions on a port of its own.
class EchoServer {
 public:
  EchoServer(PollLoop& loop, Seen& seen, size_t max_connections, int max_of_peer,
             Duration stop_grace = {})
      : group_(
            loop,
            {.protocol = "echo",
             .accept = Acceptor::Options{.protocol = "echo",
                                         .address = {{"127.0.0.1", 0}, ""},
                                         .retry = std::chrono::milliseconds(10)},
             .max_connections = max_connections,
             .max_connections_of_peer = max_of_peer,
             .stop_grace = stop_grace,
             .open =
                 [&loop, &seen](FileDescriptor socket, const Peer& peer, PeerPlaces::Place place) {
                   auto client = std::make_unique<SessionClient>(
                       loop.wake_pipe(), peer, std::move(place), SessionClient::Options());
                   client->SetSession(std::make_unique<EchoSession>(seen, loop.clock().Now()));
                   client->SetSocket(std::move(socket));
                   return client;
                 },
             .refuse =
                 [](int descriptor, const Peer&, PeerPlaces::Full full) {
                   const char answer = full == PeerPlaces::Full::kOfPeer ? 'p' : 'a';
                   EXPECT_EQ(send(descriptor, &answer, 1, 0), 1);
                 },
             .on_made_room = [this] { ++made_room; }}) {
    EXPECT_TRUE(group_.acceptor().Start().ok());
    EXPECT_TRUE(group_.Start().ok());
  }
  int port() const { return group_.acceptor().port(); }
  PollGroup& group() { return group_; }

  std::atomic<int> made_room = 0;

 private:
  PollGroup group_;
};

class PollLoopTest : public ::testing::Test {
 protected:
  static std::string Ask(SocketClient& client, const std::string& text) {
    client.Send(text);
    return client.ReceiveUntil(text);
  }

  Seen seen_;
  PollLoop loop_;
};

TEST_F(PollLoopTest, OneThreadServesAllGroups) {
  EchoServer one(loop_, seen_, 10, 10);
  EchoServer other(loop_, seen_, 10, 10);
  SocketClient first(one.port());
  SocketClient second(other.port());
  EXPECT_EQ(Ask(first, "hello"), "hello");
  EXPECT_EQ(Ask(second, "hello"), "hello");
  MutexLock lock(seen_.mu);
  EXPECT_EQ(seen_.threads.size(), 1U);
  EXPECT_FALSE(seen_.threads.contains(std::this_thread::get_id()));
}

TEST_F(PollLoopTest, AGroupThatStopsLeavesTheOthersServed) {
  auto one = std::make_unique<EchoServer>(loop_, seen_, 10, 10);
  EchoServer other(loop_, seen_, 10, 10);
  SocketClient first(one->port());
  SocketClient second(other.port());
  EXPECT_EQ(Ask(first, "hello"), "hello");
  EXPECT_EQ(Ask(second, "hello"), "hello");
  one->group().Stop();
  one->group().Stop();
  EXPECT_TRUE(first.Closed());
  one.reset();
  EXPECT_EQ(Ask(second, "again"), "again");
  // And another one may come.
  EchoServer third(loop_, seen_, 10, 10);
  SocketClient late(third.port());
  EXPECT_EQ(Ask(late, "hello"), "hello");
}

TEST_F(PollLoopTest, AStopTellsConnectionsAndWaitsNoLongerThanForTheirEnd) {
  EchoServer server(loop_, seen_, 10, 10, std::chrono::hours(1));
  SocketClient client(server.port());
  EXPECT_EQ(Ask(client, "hello"), "hello");
  server.group().Stop();
  EXPECT_EQ(client.Receive(), "bye");
  EXPECT_TRUE(client.Closed());
}

TEST_F(PollLoopTest, ADrainIsToldToEachConnectionOnce) {
  EchoServer server(loop_, seen_, 10, 10);
  SocketClient client(server.port());
  EXPECT_EQ(Ask(client, "hello"), "hello");
  server.group().Drain();
  server.group().Drain();
  EXPECT_EQ(client.ReceiveUntil("drain"), "drain");
  const int before = seen_.advances;
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Ask(client, "more"), "more");
  EXPECT_LE(seen_.advances - before, 150);
  SocketClient late(server.port());
  EXPECT_EQ(Ask(late, "hello"), "drainhello");
}

TEST_F(PollLoopTest, TheOneThatHasBeenIdleForLongestMakesRoom) {
  EchoServer server(loop_, seen_, 3, 2);
  SocketClient other(server.port(), "127.0.0.2");
  EXPECT_EQ(Ask(other, "hello"), "hello");
  SocketClient busy(server.port());
  EXPECT_EQ(Ask(busy, "busy"), "busy");
  SocketClient idle(server.port());
  EXPECT_EQ(Ask(idle, "hello"), "hello");
  // One address has all it may have, so one of its own goes.
  SocketClient next(server.port());
  EXPECT_EQ(Ask(next, "busy"), "busy");
  EXPECT_TRUE(idle.Closed());
  EXPECT_EQ(server.made_room, 1);
  SocketClient too_many(server.port());
  EXPECT_EQ(too_many.ReceiveUntil("p"), "p");
  EXPECT_TRUE(too_many.Closed());
  // All places are taken, so the oldest of all goes.
  SocketClient third(server.port(), "127.0.0.3");
  EXPECT_EQ(Ask(third, "busy"), "busy");
  EXPECT_TRUE(other.Closed());
  EXPECT_EQ(server.made_room, 2);
  SocketClient fourth(server.port(), "127.0.0.3");
  EXPECT_EQ(fourth.ReceiveUntil("a"), "a");
  EXPECT_TRUE(fourth.Closed());
  EXPECT_EQ(server.group().places().held(), 3U);
  EXPECT_EQ(Ask(busy, "still here"), "still here");
}

TEST_F(PollLoopTest, ThePeerWithMostConnectionsMakesRoomForOthers) {
  EchoServer server(loop_, seen_, 4, 4);
  SocketClient first(server.port(), "127.0.0.2");
  EXPECT_EQ(Ask(first, "busy"), "busy");
  SocketClient second(server.port(), "127.0.0.2");
  EXPECT_EQ(Ask(second, "busy"), "busy");
  SocketClient third(server.port(), "127.0.0.2");
  EXPECT_EQ(Ask(third, "busy"), "busy");
  SocketClient other(server.port(), "127.0.0.3");
  EXPECT_EQ(Ask(other, "busy"), "busy");
  EXPECT_EQ(Ask(first, "still here"), "still here");
  SocketClient one_more(server.port(), "127.0.0.2");
  EXPECT_EQ(one_more.ReceiveUntil("a"), "a");
  SocketClient newcomer(server.port(), "127.0.0.4");
  ASSERT_EQ(Ask(newcomer, "busy"), "busy");
  EXPECT_TRUE(second.Closed());
  EXPECT_EQ(server.made_room, 1);
  // It would have as many as the one that gives way.
  SocketClient as_many(server.port(), "127.0.0.3");
  EXPECT_EQ(as_many.ReceiveUntil("a"), "a");
}

TEST_F(PollLoopTest, WorkGoesOnInFurtherTurnsAlsoForAClientThatSendsNoMore) {
  EchoServer server(loop_, seen_, 10, 10);
  SocketClient client(server.port());
  client.Send("work");
  client.SendNoMore();
  EXPECT_EQ(client.ReceiveUntil("done"), "workdone");
  EXPECT_TRUE(client.Closed());
}

TEST_F(PollLoopTest, WhatAConnectionThrowsCostsItAlone) {
  EchoServer server(loop_, seen_, 10, 10);
  SocketClient fine(server.port());
  EXPECT_EQ(Ask(fine, "hello"), "hello");
  SocketClient unlucky(server.port());
  unlucky.Send("fail");
  EXPECT_TRUE(unlucky.Closed());
  EXPECT_EQ(Ask(fine, "again"), "again");
}

TEST_F(PollLoopTest, NothingIsTakenByAGroupThatDoesNotRun) {
  PollGroup group(loop_, {.protocol = "none", .max_connections = 1, .max_connections_of_peer = 1});
  const auto add = [&] {
    return group.Add(std::make_unique<SessionClient>(loop_.wake_pipe(), Peer(), PeerPlaces::Place(),
                                                     SessionClient::Options()));
  };
  EXPECT_FALSE(add());
  ASSERT_TRUE(group.Start().ok());
  group.Stop();
  EXPECT_FALSE(add());
}

}  // namespace
}  // namespace millrace
