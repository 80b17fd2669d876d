// Clients that send or read too slowly or too much, and how long a session waits for them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <utility>

#include "tests/fakes/fake_clock.h"
#include "tests/unit/server/frontends/wyoming/session_fixture.h"
#include "tests/unit/server/requests/fake_voice.h"

namespace millrace::server {
namespace {

using absl::StatusCode;
using std::chrono::seconds;
using ::testing::ElementsAre;

TEST_F(SessionTest, WhileATextIsSpokenOthersWaitAndPingsAreAnswered) {
  Gate gate;
  backend_.Add(VoiceInfo("joe"), voice_.Hooks([&] { gate.Pass(); }));
  Client client = Connect();
  client.Send("synthesize", {{"text", "One."}});
  client.Send("ping");
  gate.AwaitInside();
  EXPECT_THAT(TypesOf(client.Read()), ElementsAre("pong"));
  client.Send("synthesize", {{"text", "Two."}});
  client.Send("ping");
  // Behind a text that waits nothing is looked at, and little of it is taken.
  EXPECT_TRUE(client.Read().empty());
  EXPECT_TRUE(client.session.wants_bytes());
  client.session.Receive(std::string(64 << 10, ' '));
  EXPECT_FALSE(client.session.wants_bytes());
  gate.Open();
  EXPECT_THAT(TypesOf(client.ReadUntil("audio-stop")),
              ElementsAre("audio-start", "audio-chunk", "audio-stop"));
  EXPECT_EQ(client.ReadUntil("pong").back().type, "pong");
  EXPECT_EQ(client.ReadUntil("audio-stop").back().type, "audio-stop");
}

TEST_F(SessionTest, AClientThatLeavesStopsItsWork) {
  Gate gate;
  std::atomic<int> steps = 0;
  backend_.Add(VoiceInfo("joe"), {.complete = [&](models::Request& request) {
                 gate.Pass();
                 ++steps;
                 request.Emit(Sound(100));
               }});
  {
    Client client = Connect();
    client.Send("synthesize", {{"text", "One."}});
    gate.AwaitInside();
  }
  gate.Open();
  AwaitQuiet();
  EXPECT_EQ(steps, 1);
  EXPECT_EQ(Ended(Method::kWyomingSpeech, StatusCode::kCancelled), 1);
}

TEST_F(SessionTest, AudioThatDidNotArriveIsCountedAsCancelled) {
  backend_.Add(VoiceInfo("joe"), voice_.Hooks());
  {
    Client client = Connect();
    client.Send("synthesize", {{"text", "One."}});
    Await([&] {
      client.session.Advance();
      return std::string(client.session.unsent()).find("audio-stop") != std::string::npos;
    });
  }
  AwaitQuiet();
  EXPECT_EQ(Ended(Method::kWyomingSpeech, StatusCode::kCancelled), 1);
  EXPECT_EQ(Ended(Method::kWyomingSpeech, StatusCode::kOk), 0);
}

TEST_F(SessionTest, ASlowReaderHoldsNoWorker) {
  std::atomic<int> steps = 0;
  backend_.Add(VoiceInfo("joe"), {.complete = [&](models::Request& request) {
                 request.Emit(Sound(8000));
                 if (++steps == 100) request.Finish(absl::OkStatus());
               }});
  FakeVoice other;
  backend_.Add(VoiceInfo("other"), other.Hooks());
  Client slow = Connect();
  slow.Send("synthesize", {{"text", "One."}, {"voice", {{"name", "joe"}}}});
  Client client = Connect();
  for (bool parked = false; !parked;) {
    const int before = steps;
    slow.session.Advance();
    client.Send("synthesize", {{"text", "Two."}, {"voice", {{"name", "other"}}}});
    client.ReadUntil("audio-stop");
    parked = before > 0 && steps == before;
  }
  // The audio that waits here and in the reply is bounded.
  EXPECT_LE(steps, 16);
  EXPECT_LE(slow.session.unsent().size(), 160U << 10);
  size_t bytes = 0;
  for (const ReadEvent& event : slow.ReadUntil("audio-stop")) bytes += event.payload.size();
  EXPECT_EQ(bytes, 100U * 16'000);
}

TEST_F(SessionTest, TextThatComesFasterThanItIsSpokenWaitsWithTheClient) {
  Gate gate;
  backend_.Add(VoiceInfo("joe"), voice_.Hooks([&] { gate.Pass(); }));
  Client client = Connect();
  client.Send("synthesize-start");
  std::string all;
  for (int i = 0; i < 1000 && client.session.wants_bytes(); ++i) {
    const std::string text = "This is sentence number " + std::to_string(i) + ". ";
    client.Send("synthesize-chunk", {{"text", text}});
    all += text;
  }
  EXPECT_FALSE(client.session.wants_bytes());
  EXPECT_LT(all.size(), 64U << 10);
  gate.Open();
  for (bool wants = false; !wants; client.Read()) wants = client.session.wants_bytes();
  client.Send("synthesize-stop");
  client.ReadUntil("synthesize-stopped");
  std::string spoken;
  for (const std::string& text : voice_.texts()) spoken += text;
  EXPECT_EQ(spoken, all);
}

TEST_F(SpeakingSessionTest, AnswersThatAreNotReadHoldUpTheNext) {
  Client client = Connect();
  const std::string text(1000, 'x');
  for (int i = 0; i < 1000 && client.session.wants_bytes(); ++i)
    client.Send("ping", {{"text", text}});
  EXPECT_FALSE(client.session.wants_bytes());
  EXPECT_LE(client.session.unsent().size(), 70U << 10);
  EXPECT_GE(client.Read().size(), 60U);
  EXPECT_TRUE(client.session.wants_bytes());
}

// Times are those of a clock that the test moves.
class SessionTimeTest : public SessionTest {
 protected:
  SessionTimeTest()
      : SessionTest({.workers = 1, .max_request_time = seconds(120), .clock = clock_}) {
    backend_.Add(VoiceInfo("joe"), voice_.Hooks());
  }
  // Moves the clock to just before a session is due and then to that; returns the seconds.
  double ExpectNothingUntilDue(Client& client) {
    const Duration left = client.session.due() - clock_.Now();
    clock_.Advance(left - std::chrono::milliseconds(1));
    EXPECT_TRUE(client.Read().empty());
    EXPECT_FALSE(client.session.over());
    clock_.Advance(std::chrono::milliseconds(1));
    return Seconds(left);
  }

  static testing::FakeClock clock_;
};

testing::FakeClock SessionTimeTest::clock_;

TEST_F(SessionTimeTest, AFloodOfEventsEndsTheSession) {
  Client client = Connect();
  std::string pings;
  for (int i = 0; i < 500; ++i) pings += "{\"type\":\"ping\"}\n";
  for (int i = 0; i < 60 && !client.session.over(); ++i) {
    client.SendBytes(pings);
    for (const ReadEvent& event : client.Read()) {
      if (event.type != "error") continue;
      EXPECT_EQ(event.data.at("code"), "RESOURCE_EXHAUSTED");
    }
  }
  EXPECT_TRUE(client.session.over());
}

TEST_F(SpeakingSessionTest, EventsThatCameTogetherAreHandledInTurns) {
  Client client = Connect();
  client.Send("synthesize-start");
  std::string chunks;
  for (int i = 0; i < 20; ++i) chunks += EventBytes("synthesize-chunk", {{"text", "a"}});
  client.SendBytes(chunks + EventBytes("ping"));
  EXPECT_TRUE(client.session.has_more());
  EXPECT_TRUE(client.session.unsent().empty());
  client.session.Advance();
  EXPECT_FALSE(client.session.has_more());
  EXPECT_THAT(TypesOf(client.Read()), ElementsAre("pong"));
  // A part of an event is none that waits for its turn.
  client.SendBytes("{");
  EXPECT_FALSE(client.session.has_more());
}

TEST_F(SessionTimeTest, AnEventThatDoesNotEndInTimeIsAnError) {
  for (const char* part :
       {"{", "{\"type\":\"a\",\"data_length\":9}\n{", "{\"type\":\"a\",\"payload_length\":9}\nx"}) {
    Client client = Connect();
    clock_.Advance(seconds(100));
    client.SendBytes(part);
    clock_.Advance(seconds(5));
    // More of it does not prolong the time.
    client.SendBytes(" ");
    EXPECT_EQ(ExpectNothingUntilDue(client), 10) << part;
    EXPECT_EQ(client.ReadError(), "DEADLINE_EXCEEDED event: did not come as a whole in time");
  }
}

TEST_F(SessionTimeTest, AnIdleConnectionIsClosedWithoutAWord) {
  Client client = Connect();
  client.Send("ping");
  client.Read();
  EXPECT_EQ(ExpectNothingUntilDue(client), 300);
  EXPECT_TRUE(client.Read().empty());
  EXPECT_TRUE(client.session.over());
}

TEST_F(SessionTimeTest, AClientThatReadsNothingIsClosed) {
  Client client = Connect();
  client.Send("describe");
  clock_.Advance(seconds(29));
  client.session.Sent(1);
  clock_.Advance(seconds(29));
  client.session.Advance();
  EXPECT_FALSE(client.session.over());
  clock_.Advance(seconds(1));
  client.session.Advance();
  EXPECT_TRUE(client.session.over());
  EXPECT_TRUE(client.session.unsent().empty());
}

TEST_F(SessionTimeTest, AClientIsNotLateWithAnEventWhileItIsNotRead) {
  Client client = Connect();
  while (client.session.unsent().size() <= 64U << 10) client.Send("describe");
  client.session.Receive("{");
  clock_.Advance(seconds(16));
  client.session.Sent(client.session.unsent().size());
  client.session.Advance();
  EXPECT_FALSE(client.session.over());
  EXPECT_EQ(ExpectNothingUntilDue(client), 15);
  EXPECT_EQ(client.ReadError(), "DEADLINE_EXCEEDED event: did not come as a whole in time");
}

TEST_F(SessionTimeTest, ATextMayNotBeWrittenForEver) {
  Client client = Connect();
  client.Send("synthesize-start");
  client.Send("synthesize-chunk", {{"text", "Once upon a time, "}});
  EXPECT_EQ(ExpectNothingUntilDue(client), 120);
  EXPECT_EQ(client.ReadError(), "DEADLINE_EXCEEDED the synthesis has lasted as long as one may");
  AwaitQuiet();
  EXPECT_EQ(Ended(Method::kWyomingTextStream, StatusCode::kDeadlineExceeded), 1);
}

TEST_F(SessionTimeTest, ATextThatWaitsForMoreGivesWay) {
  Client client = Connect();
  client.Send("synthesize-start");
  client.Send("synthesize-chunk", {{"text", "Once upon a time, "}});
  const TimePoint last_text = clock_.Now();
  clock_.Advance(std::chrono::milliseconds(999));
  // These are no text.
  client.Send("ping");
  client.Send("synthesize-chunk", {{"text", ""}});
  client.Read();
  EXPECT_EQ(client.session.IdleSince(clock_.Now()), std::nullopt);
  clock_.Advance(std::chrono::milliseconds(1));
  EXPECT_EQ(client.session.IdleSince(clock_.Now()), last_text);
  client.Send("synthesize-chunk", {{"text", "there "}});
  EXPECT_EQ(client.session.IdleSince(clock_.Now()), std::nullopt);
}

TEST_F(SessionTimeTest, ATextThatIsBeingSpokenDoesNotGiveWay) {
  Gate gate;
  backend_.Add(VoiceInfo("joe"), voice_.Hooks([&] { gate.Pass(); }));
  Client client = Connect();
  client.Send("synthesize-start");
  client.Send("synthesize-chunk", {{"text", "One. Two"}});
  gate.AwaitInside();
  clock_.Advance(seconds(60));
  EXPECT_EQ(client.session.IdleSince(clock_.Now()), std::nullopt);
  gate.Open();
  Await([&] {
    client.session.Advance();
    return !client.session.unsent().empty();
  });
  clock_.Advance(seconds(60));
  EXPECT_EQ(client.session.IdleSince(clock_.Now()), std::nullopt);
}

TEST_F(SessionTimeTest, ATextThatIsBeingSpokenIsNotOverdueHoweverLongThatTakes) {
  Gate gate;
  backend_.Add(VoiceInfo("joe"), voice_.Hooks([&] { gate.Pass(); }));
  Client client = Connect();
  client.Send("synthesize", {{"text", "One."}});
  gate.AwaitInside();
  EXPECT_EQ(client.session.due(), TimePoint::max());
  clock_.Advance(seconds(3600));
  EXPECT_TRUE(client.Read().empty());
  gate.Open();
  EXPECT_EQ(client.ReadUntil("audio-stop").back().type, "audio-stop");
}

}  // namespace
}  // namespace millrace::server
