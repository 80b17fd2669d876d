#include "server/websocket/frames.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/fakes/websocket_client.h"

namespace millrace {
namespace {

using std::chrono::seconds;
using testing::ClientFrame;

class WebSocketFramesTest : public ::testing::Test {
 protected:
  void Push(const std::string& bytes) { frames_.Push(bytes, TimePoint() + seconds(1)); }
  // The next frame to the client.
  testing::ServerFrame Sent() {
    bytes_ += frames_.unsent();
    frames_.Sent(frames_.unsent().size());
    auto frame = testing::TakeServerFrame(bytes_);
    EXPECT_TRUE(frame);
    return frame.value_or(testing::ServerFrame());
  }
  bool NothingSent() { return bytes_.empty() && frames_.unsent().empty(); }

  WebSocketFrames frames_{WebSocketFrames::Limits{
      .max_message_bytes = 100, .frames_per_second = 1, .frames_at_once = 10}};
  std::string bytes_;
};

TEST_F(WebSocketFramesTest, MessagesComeInAnyParts) {
  const std::string bytes = ClientFrame(testing::kText, "caf\u00e9") +
                            ClientFrame(testing::kBinary, std::string("\0\xff", 2));
  for (const char byte : bytes) Push(std::string(1, byte));
  auto text = frames_.Next();
  ASSERT_TRUE(text);
  EXPECT_EQ(text->data, "caf\u00e9");
  EXPECT_FALSE(text->binary);
  auto binary = frames_.Next();
  ASSERT_TRUE(binary);
  EXPECT_EQ(binary->data, std::string("\0\xff", 2));
  EXPECT_TRUE(binary->binary);
  EXPECT_FALSE(frames_.Next());
  EXPECT_TRUE(NothingSent());
}

TEST_F(WebSocketFramesTest, AMessageInFragmentsIsPutTogetherAroundAPing) {
  Push(ClientFrame(testing::kText, "half ", {.last = false}));
  EXPECT_FALSE(frames_.has_message());
  Push(ClientFrame(testing::kPing, "p"));
  Push(ClientFrame(testing::kContinuation, "message"));
  EXPECT_EQ(frames_.Next()->data, "half message");
  const auto pong = Sent();
  EXPECT_EQ(pong.opcode, testing::kPong);
  EXPECT_EQ(pong.payload, "p");
}

TEST_F(WebSocketFramesTest, ViolationsAreClosedWithTheirCodeAndAReason) {
  struct Case {
    std::string bytes;
    int code;
    std::string reason;  // a part of it
  };
  const Case cases[] = {
      {ClientFrame(testing::kText, "a", {.masked = false}), 1002, "not masked"},
      // A compressed message, which no extension allows.
      {ClientFrame(testing::kText, "a", {.reserved = 4}), 1002, "reserved bits"},
      {ClientFrame(testing::kContinuation, "a"), 1002, "out of its turn"},
      {ClientFrame(3, "a"), 1002, "unknown opcode"},
      {ClientFrame(testing::kPing, "a", {.last = false}), 1002, "control frame is a fragment"},
      {ClientFrame(testing::kPing, std::string(126, 'a')), 1002, "more than 125 bytes"},
      {std::string("\x81\xfe\x00\x01", 4), 1002, "longer than needed"},
      {ClientFrame(testing::kClose, "\x03"), 1002, "1 byte"},
      {ClientFrame(testing::kClose, "\x03\xee"), 1002, "code"},
      {ClientFrame(testing::kClose, "\x03\xe8\xc3\x28"), 1007, "not UTF-8"},
      {ClientFrame(testing::kText, "\xc3\x28"), 1007, "not UTF-8"},
      {ClientFrame(testing::kText, "\xc3"), 1007, "not UTF-8"},
      {ClientFrame(testing::kText, "a", {.last = false}) + ClientFrame(testing::kText, "b"), 1002,
       "out of its turn"},
  };
  for (const auto& [bytes, code, reason] : cases) {
    WebSocketFrames frames({});
    frames.Push(bytes + ClientFrame(testing::kText, "later"), TimePoint() + seconds(1));
    std::string sent(frames.unsent());
    const auto close = testing::TakeServerFrame(sent);
    ASSERT_TRUE(close) << code;
    EXPECT_EQ(close->opcode, testing::kClose);
    EXPECT_EQ(close->code(), code) << reason;
    EXPECT_NE(close->payload.find(reason, 2), std::string::npos) << close->payload;
    EXPECT_LE(close->payload.size(), 125U);
    EXPECT_EQ(sent, "") << "nothing follows a close";
    EXPECT_TRUE(frames.closing());
    EXPECT_FALSE(frames.Next()) << "a message behind an error";
  }
}

TEST_F(WebSocketFramesTest, AnAnnouncedLengthIsRefusedBeforeItsBytesCome) {
  for (const uint64_t announced : {uint64_t{101}, uint64_t{1} << 40, ~uint64_t{0} >> 1}) {
    WebSocketFrames frames({.max_message_bytes = 100});
    frames.Push(ClientFrame(testing::kText, "a", {.announced = announced}), TimePoint());
    EXPECT_EQ(frames.excess(), WebSocketFrames::Excess::kMessageBytes) << announced;
    // There is still room for an error in the protocol's own form.
    frames.Send({"sorry"});
    frames.Close(WebSocketClose::kTooBig, "too big");
    std::string sent(frames.unsent());
    EXPECT_EQ(testing::TakeServerFrame(sent)->payload, "sorry");
    EXPECT_EQ(testing::TakeServerFrame(sent)->code(), 1009);
  }
}

TEST_F(WebSocketFramesTest, WhatComesBehindAnExcessIsNotRead) {
  Push(ClientFrame(testing::kText, std::string(101, 'a')) +
       ClientFrame(testing::kText, "b", {.masked = false}));
  EXPECT_EQ(frames_.excess(), WebSocketFrames::Excess::kMessageBytes);
  EXPECT_FALSE(frames_.closing());
  frames_.Send({"sorry"});
  EXPECT_EQ(Sent().payload, "sorry");
}

TEST_F(WebSocketFramesTest, FragmentsCountTogether) {
  Push(ClientFrame(testing::kText, std::string(60, 'a'), {.last = false}));
  EXPECT_EQ(frames_.excess(), WebSocketFrames::Excess::kNone);
  Push(ClientFrame(testing::kContinuation, std::string(41, 'a')));
  EXPECT_EQ(frames_.excess(), WebSocketFrames::Excess::kMessageBytes);
  EXPECT_FALSE(frames_.has_message());
}

TEST_F(WebSocketFramesTest, AFloodOfFramesIsAnExcessWhateverTheirKind) {
  for (int i = 0; i < 10; ++i) Push(ClientFrame(testing::kPing, ""));
  EXPECT_EQ(frames_.excess(), WebSocketFrames::Excess::kNone);
  Push(ClientFrame(testing::kPing, ""));
  EXPECT_EQ(frames_.excess(), WebSocketFrames::Excess::kFrames);
}

TEST_F(WebSocketFramesTest, ACloseIsConfirmed) {
  Push(ClientFrame(testing::kClose,
                   "\x03\xe8"
                   "bye"));
  EXPECT_TRUE(frames_.closing());
  const auto close = Sent();
  EXPECT_EQ(close.opcode, testing::kClose);
  EXPECT_EQ(close.code(), 1000);
  EXPECT_TRUE(frames_.closed());
  frames_.Send({"later"});
  EXPECT_TRUE(NothingSent());
}

TEST_F(WebSocketFramesTest, ACloseOfTheServerWaitsForTheClients) {
  frames_.Close(WebSocketClose::kGoingAway, std::string(200, 'r'));
  const auto close = Sent();
  EXPECT_EQ(close.code(), 1001);
  EXPECT_EQ(close.payload.size(), 125U);
  EXPECT_FALSE(frames_.closed());
  Push(ClientFrame(testing::kClose, "\x03\xe9"));
  EXPECT_TRUE(frames_.closed());
}

TEST_F(WebSocketFramesTest, AReasonIsNotCutWithinACharacter) {
  std::string reason;
  while (reason.size() < 130) reason += "\u00e9";
  frames_.Close(WebSocketClose::kNormal, "a" + reason);
  EXPECT_EQ(Sent().payload.size(), 2U + 123U);
}

TEST_F(WebSocketFramesTest, LongMessagesAreSentWhole) {
  const std::string long_text(70'000, 'x');
  frames_.Send({long_text});
  frames_.Send({std::string(300, 'y'), true});
  auto first = Sent();
  EXPECT_EQ(first.opcode, testing::kText);
  EXPECT_EQ(first.payload, long_text);
  auto second = Sent();
  EXPECT_EQ(second.opcode, testing::kBinary);
  EXPECT_EQ(second.payload.size(), 300U);
}

}  // namespace
}  // namespace millrace
