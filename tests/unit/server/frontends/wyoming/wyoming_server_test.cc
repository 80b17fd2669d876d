#include "server/frontends/wyoming/wyoming_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "tests/fakes/socket_client.h"
#include "tests/unit/server/frontends/wyoming/fixture.h"
#include "tests/unit/server/requests/fake_voice.h"

namespace millrace::server {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WyomingClient : public testing::SocketClient {
 public:
  using SocketClient::SocketClient;
  // Reads up to an event of that type, or to the end of the connection.
  std::vector<ReadEvent> ReadUntil(const std::string& type) {
    std::vector<ReadEvent> all;
    while (all.empty() || all.back().type != type) {
      while (events_.empty()) {
        const std::string bytes = Receive();
        EXPECT_FALSE(was_reset());
        if (bytes.empty()) return all;
        bytes_ += bytes;
        for (ReadEvent& event : TakeEvents(bytes_)) events_.push_back(std::move(event));
      }
      all.push_back(std::move(events_.front()));
      events_.pop_front();
    }
    return all;
  }
  // Waits for the server's end of the connection.
  std::vector<ReadEvent> ReadToEnd() { return ReadUntil(""); }
  bool IsServed() {
    Send(EventBytes("ping"));
    const auto events = ReadUntil("pong");
    return !events.empty() && events.back().type == "pong";
  }

 private:
  std::string bytes_;
  std::deque<ReadEvent> events_;
};

class WyomingServerTest : public ::testing::Test {
 protected:
  void Serve(WyomingServer::Options options = {}) {
    options.address = "127.0.0.1:0";
    server_ = std::make_unique<WyomingServer>(loop_, backend_.services(), std::move(options));
    ASSERT_TRUE(server_->Start().ok());
  }
  std::unique_ptr<WyomingClient> Open() { return std::make_unique<WyomingClient>(server_->port()); }
  double Ended(StatusCode code) { return backend_.Count("joe", Method::kWyomingSpeech, code); }
  void AwaitQuiet() {
    Await([this] { return backend_.admission.in_flight() == 0; });
  }

  FakeVoice voice_;
  TestBackend backend_{{.workers = 2}};
  PollLoop loop_;
  std::unique_ptr<WyomingServer> server_;
};

TEST_F(WyomingServerTest, ManyClientsAreServedAtOnce) {
  backend_.Add(VoiceInfo("joe"), voice_.Hooks());
  Serve();
  std::vector<std::unique_ptr<WyomingClient>> peers;
  for (int i = 0; i < 20; ++i) {
    peers.push_back(Open());
    peers.back()->Send(EventBytes("describe") + EventBytes("synthesize", {{"text", "Yes."}}));
  }
  for (const auto& peer : peers) {
    EXPECT_THAT(TypesOf(peer->ReadUntil("audio-stop")),
                ElementsAre("info", "audio-start", "audio-chunk", "audio-stop"));
  }
  AwaitQuiet();
  EXPECT_EQ(Ended(StatusCode::kOk), 20);
}

TEST_F(WyomingServerTest, AnEventMayComeByteByByte) {
  Serve();
  const auto peer = Open();
  for (const char byte : EventBytes("ping", {{"text", "x"}})) peer->Send(std::string(1, byte));
  EXPECT_THAT(TypesOf(peer->ReadUntil("pong")), ElementsAre("pong"));
}

TEST_F(WyomingServerTest, AnErrorArrivesBeforeTheConnectionEnds) {
  Serve();
  const auto peer = Open();
  // More than the server reads of it.
  peer->Send("nonsense\n" + std::string(100'000, 'x'));
  const auto events = peer->ReadToEnd();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].type, "error");
  EXPECT_TRUE(Open()->IsServed());
}

TEST_F(WyomingServerTest, AClientThatEndsItsSideGetsWhatIsReadyAndIsClosed) {
  Serve();
  const auto peer = Open();
  peer->Send(EventBytes("ping"));
  peer->SendNoMore();
  EXPECT_THAT(TypesOf(peer->ReadToEnd()), ElementsAre("pong"));
}

TEST_F(WyomingServerTest, AClientThatLeavesStopsItsWork) {
  Gate gate;
  std::atomic<int> steps = 0;
  backend_.Add(VoiceInfo("joe"), {.complete = [&](models::Request& request) {
                 ++steps;
                 gate.Pass();
                 request.Emit(Sound(100));
               }});
  Serve();
  auto peer = Open();
  peer->Send(EventBytes("synthesize", {{"text", "One."}}));
  gate.AwaitInside();
  peer.reset();
  gate.Open();
  AwaitQuiet();
  EXPECT_EQ(Ended(StatusCode::kCancelled), 1);
}

TEST_F(WyomingServerTest, AClientThatNeverReadsIsClosedAndHoldsNobodyUp) {
  backend_.Add(VoiceInfo("joe"),
               {.complete = [](models::Request& request) { request.Emit(Sound(100'000)); }});
  Serve({.stall_timeout = std::chrono::milliseconds(50)});
  const auto deaf = Open();
  deaf->Send(EventBytes("synthesize", {{"text", "For ever."}}));
  EXPECT_TRUE(Open()->IsServed());
  Await([this] { return Ended(StatusCode::kCancelled) == 1; });
}

TEST_F(WyomingServerTest, IdleConnectionsGiveWayTheOldestFirst) {
  Serve({.max_connections = 3});
  std::vector<std::unique_ptr<WyomingClient>> idle;
  for (int i = 0; i < 3; ++i) {
    idle.push_back(Open());
    EXPECT_TRUE(idle.back()->IsServed());
  }
  EXPECT_TRUE(Open()->IsServed());
  EXPECT_TRUE(idle[0]->ReadToEnd().empty());
}

TEST_F(WyomingServerTest, WhereAllConnectionsAreInUseANewOneIsRefused) {
  Gate gate;
  backend_.Add(VoiceInfo("joe"), voice_.Hooks([&] { gate.Pass(); }));
  Serve({.max_connections = 2});
  std::vector<std::unique_ptr<WyomingClient>> busy;
  for (int i = 0; i < 2; ++i) {
    busy.push_back(Open());
    busy.back()->Send(EventBytes("synthesize", {{"text", "Yes."}}));
  }
  gate.AwaitInside(2);
  const auto events = Open()->ReadToEnd();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].data.at("code"), "RESOURCE_EXHAUSTED");
  EXPECT_EQ(backend_.no_model_metrics->refused[static_cast<size_t>(Refusal::kTooMany)]->Value(), 1);
  gate.Open();
  for (const auto& peer : busy) EXPECT_EQ(peer->ReadUntil("audio-stop").back().type, "audio-stop");
}

TEST_F(WyomingServerTest, AnAddressThatHasAllItsConnectionsReplacesItsOwnAndLeavesRoomToOthers) {
  backend_.Add(VoiceInfo("joe"), voice_.Hooks());
  Serve({.max_connections = 4,
         .max_connections_of_peer = 2,
         .text_timeout = std::chrono::minutes(1)});
  WyomingClient other(server_->port(), "127.0.0.2");
  EXPECT_TRUE(other.IsServed());
  const auto idle = Open();
  EXPECT_TRUE(idle->IsServed());
  std::vector<std::unique_ptr<WyomingClient>> open;
  for (int i = 0; i < 2; ++i) {
    open.push_back(Open());
    open.back()->Send(EventBytes("synthesize-start"));
    EXPECT_TRUE(open.back()->IsServed());
  }
  EXPECT_TRUE(idle->ReadToEnd().empty());
  const auto events = Open()->ReadToEnd();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_THAT(events[0].data.at("text").get<std::string>(),
              HasSubstr("this address already has 2"));
  EXPECT_TRUE(WyomingClient(server_->port(), "127.0.0.3").IsServed());
  EXPECT_TRUE(other.IsServed());
}

TEST_F(WyomingServerTest, AStreamWhoseTextDoesNotComeGivesWay) {
  backend_.Add(VoiceInfo("joe"), voice_.Hooks());
  Serve({.max_connections = 1, .text_timeout = std::chrono::milliseconds(0)});
  const auto silent = Open();
  silent->Send(EventBytes("synthesize-start"));
  EXPECT_TRUE(silent->IsServed());
  EXPECT_TRUE(Open()->IsServed());
  EXPECT_TRUE(silent->ReadToEnd().empty());
  AwaitQuiet();
}

TEST_F(WyomingServerTest, IdleAndHalfSentConnectionsEnd) {
  Serve({.event_timeout = std::chrono::milliseconds(1),
         .idle_timeout = std::chrono::milliseconds(1)});
  EXPECT_TRUE(Open()->ReadToEnd().empty());
  Serve({.event_timeout = std::chrono::milliseconds(1)});
  const auto peer = Open();
  peer->Send("{");
  EXPECT_THAT(TypesOf(peer->ReadToEnd()), ElementsAre("error"));
}

TEST_F(WyomingServerTest, StoppingEndsWhatIsSpoken) {
  Gate gate;
  backend_.Add(VoiceInfo("joe"), voice_.Hooks([&] { gate.Pass(); }));
  Serve();
  const auto peer = Open();
  peer->Send(EventBytes("synthesize", {{"text", "Yes."}}));
  gate.AwaitInside();
  server_->Stop();
  server_->Stop();
  EXPECT_TRUE(peer->ReadToEnd().empty());
  gate.Open();
  AwaitQuiet();
  EXPECT_EQ(Ended(StatusCode::kCancelled), 1);
}

TEST_F(WyomingServerTest, AnAddressThatCannotBeServedIsNamed) {
  Serve();
  const std::string taken = "127.0.0.1:" + std::to_string(server_->port());
  for (const std::string& address : {taken, std::string("203.0.113.1:0")}) {
    WyomingServer other(loop_, backend_.services(), {.address = address});
    EXPECT_THAT(std::string(other.Start().message()),
                HasSubstr("--wyoming-address " + address + ": cannot listen"));
  }
}

}  // namespace
}  // namespace millrace::server
