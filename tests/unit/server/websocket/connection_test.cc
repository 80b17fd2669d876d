#include "server/websocket/connection.h"

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/fake_clock.h"
#include "tests/fakes/websocket_client.h"

namespace millrace {
namespace {

using std::chrono::seconds;
using testing::ClientFrame;

// The words that a session was told, and its part.
struct Script {
  std::vector<std::string> received;
  std::deque<std::string> output;
  std::optional<WebSocketSession::End> end;
  std::vector<std::string> failures;
  bool wants_message = true;
  bool idle = true;
  int all_sent = 0;
  int destroyed = 0;
};

class FakeSession final : public WebSocketSession {
 public:
  explicit FakeSession(Script& script) : script_(script) {}
  ~FakeSession() override { ++script_.destroyed; }
  void Receive(WebSocketMessage message) override { script_.received.push_back(message.data); }
  bool wants_message() const override { return script_.wants_message; }
  std::optional<WebSocketMessage> Take() override {
    if (script_.output.empty()) return std::nullopt;
    WebSocketMessage message{std::move(script_.output.front())};
    script_.output.pop_front();
    return message;
  }
  void OnAllSent() override { ++script_.all_sent; }
  const std::optional<End>& end() const override { return script_.end; }
  void Fail(WebSocketClose code, const std::string& message) override {
    script_.failures.push_back(message);
    script_.output.push_back("error");
    script_.end = End{.code = code, .reason = message};
  }
  bool idle() const override { return script_.idle; }
  TimePoint due() const override { return TimePoint::max(); }
  void Advance() override {}

 private:
  Script& script_;
};

class WebSocketConnectionTest : public ::testing::Test {
 protected:
  void Receive(const std::string& bytes) {
    connection_.Receive(bytes);
    connection_.Advance();
  }
  // Reads what the server has sent as "text", "ping", "close 1000".
  std::vector<std::string> Read() {
    connection_.Advance();
    while (!connection_.unsent().empty()) {
      bytes_ += connection_.unsent();
      connection_.Sent(connection_.unsent().size());
      connection_.Advance();
    }
    std::vector<std::string> frames;
    while (const auto frame = testing::TakeServerFrame(bytes_)) {
      if (frame->opcode == testing::kClose) {
        frames.push_back("close " + std::to_string(frame->code()));
      } else {
        frames.push_back(frame->opcode == testing::kPing ? "ping" : frame->payload);
      }
    }
    return frames;
  }
  void Pass(Duration time) {
    clock_.Advance(time);
    connection_.Advance();
  }

  using Frames = std::vector<std::string>;
  Script script_;
  testing::FakeClock clock_;
  std::string bytes_;
  WebSocketConnection connection_{
      std::make_unique<FakeSession>(script_),
      {.limits = {.max_message_bytes = 1000, .frames_per_second = 10, .frames_at_once = 20}},
      clock_};
};

TEST_F(WebSocketConnectionTest, MessagesReachTheSessionAndItsAnswersTheClient) {
  script_.output = {"one", "two"};
  Receive(ClientFrame(testing::kText, "hello"));
  EXPECT_EQ(script_.received, Frames{"hello"});
  EXPECT_EQ(Read(), (Frames{"one", "two"}));
  EXPECT_EQ(script_.all_sent, 1);
  EXPECT_FALSE(connection_.over());
}

TEST_F(WebSocketConnectionTest, MessagesThatCameTogetherAreHandledInTurns) {
  std::string messages;
  for (int i = 0; i < 20; ++i) messages += ClientFrame(testing::kText, "m");
  Receive(messages);
  EXPECT_EQ(script_.received.size(), size_t{ByteSession::kEventsOfShare});
  EXPECT_TRUE(connection_.has_more());
  connection_.Advance();
  EXPECT_EQ(script_.received.size(), 20U);
  EXPECT_FALSE(connection_.has_more());
}

TEST_F(WebSocketConnectionTest, TheEndOfASessionIsAClose) {
  script_.output = {"last"};
  script_.end = WebSocketSession::End{};
  EXPECT_EQ(Read(), (Frames{"last", "close 1000"}));
  EXPECT_FALSE(connection_.over());
  Receive(ClientFrame(testing::kClose, "\x03\xe8"));
  EXPECT_TRUE(connection_.over());
}

TEST_F(WebSocketConnectionTest, AClientThatDoesNotConfirmACloseIsCutOff) {
  script_.end = WebSocketSession::End{};
  EXPECT_EQ(Read(), Frames{"close 1000"});
  Pass(seconds(1));
  // The bytes that it still sends are thrown away, and do not prolong its time.
  Receive(ClientFrame(testing::kText, "more"));
  EXPECT_TRUE(script_.received.empty());
  EXPECT_FALSE(connection_.over());
  EXPECT_EQ(connection_.due(), clock_.Now() + seconds(1));
  Pass(seconds(1));
  EXPECT_TRUE(connection_.over());
}

TEST_F(WebSocketConnectionTest, ASilentClientIsPingedAndThenGivenUp) {
  EXPECT_EQ(connection_.due(), clock_.Now() + seconds(20));
  Pass(seconds(20));
  EXPECT_EQ(Read(), Frames{"ping"});
  Pass(seconds(10));
  Receive(ClientFrame(testing::kPong, ""));
  Pass(seconds(19));
  EXPECT_EQ(Read(), Frames{});
  Pass(seconds(1));
  EXPECT_EQ(Read(), Frames{"ping"});
  EXPECT_FALSE(connection_.over());
  Pass(seconds(20));
  EXPECT_TRUE(connection_.over());
}

TEST_F(WebSocketConnectionTest, AClientThatIsNotReadIsNotGivenUpForItsSilence) {
  script_.wants_message = false;
  Receive(ClientFrame(testing::kText, "held"));
  EXPECT_FALSE(connection_.wants_bytes());
  Pass(seconds(100));
  EXPECT_FALSE(connection_.over());
  script_.wants_message = true;
  connection_.Advance();
  EXPECT_EQ(script_.received, Frames{"held"});
  EXPECT_TRUE(connection_.wants_bytes());
  EXPECT_EQ(connection_.due(), clock_.Now() + seconds(20));
}

TEST_F(WebSocketConnectionTest, AClientThatReadsNothingIsCutOffAndNeverHoldsMuch) {
  for (int i = 0; i < 100; ++i) script_.output.emplace_back(10'000, 'x');
  connection_.Advance();
  EXPECT_LE(connection_.unsent().size(), size_t{80} << 10);
  EXPECT_GT(script_.output.size(), 90U);
  EXPECT_FALSE(connection_.wants_bytes());
  Pass(seconds(29));
  EXPECT_FALSE(connection_.over());
  connection_.Sent(1);
  Pass(seconds(29));
  EXPECT_FALSE(connection_.over());
  Pass(seconds(1));
  EXPECT_TRUE(connection_.over());
}

TEST_F(WebSocketConnectionTest, ExcessesAreToldInTheProtocolsFormAndClosed) {
  Receive(ClientFrame(testing::kText, "before") +
          ClientFrame(testing::kText, "a", {.announced = 1001}));
  EXPECT_EQ(script_.received, Frames{"before"});
  EXPECT_EQ(script_.failures, Frames{"a message has more than 1000 bytes, which is the limit"});
  EXPECT_EQ(Read(), (Frames{"error", "close 1009"}));
}

TEST_F(WebSocketConnectionTest, AFloodIsClosed) {
  std::string flood;
  for (int i = 0; i < 21; ++i) flood += ClientFrame(testing::kPong, "");
  Receive(flood);
  EXPECT_EQ(script_.failures, Frames{"frames come faster than 10 a second, which is the limit"});
  EXPECT_EQ(Read(), (Frames{"error", "close 1008"}));
}

TEST_F(WebSocketConnectionTest, ADrainWaitsUntilTheSessionIsIdle) {
  script_.idle = false;
  connection_.Drain();
  EXPECT_EQ(Read(), Frames{});
  script_.output = {"the rest"};
  script_.idle = true;
  EXPECT_EQ(Read(), (Frames{"the rest", "close 1001"}));
}

TEST_F(WebSocketConnectionTest, AStopDoesNotWait) {
  script_.idle = false;
  connection_.GoAway();
  EXPECT_EQ(Read(), Frames{"close 1001"});
  Receive(ClientFrame(testing::kClose, "\x03\xe9"));
  EXPECT_TRUE(connection_.over());
}

TEST_F(WebSocketConnectionTest, AClientThatClosesIsConfirmedAndOver) {
  Receive(ClientFrame(testing::kClose, ""));
  EXPECT_EQ(Read().size(), 1U);
  EXPECT_TRUE(connection_.over());
}

}  // namespace
}  // namespace millrace
