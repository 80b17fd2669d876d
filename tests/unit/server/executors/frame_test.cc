#include "server/executors/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "models/core/strings.h"
#include "server/executors/descriptor_passing.h"

namespace millrace::server {
namespace {

using ::testing::HasSubstr;

bool Forever() { return true; }

std::string Framed(std::string_view header, std::string_view behind) {
  return MessagePrefix(static_cast<uint32_t>(header.size()), behind.size()) + std::string(header) +
         std::string(behind);
}

TEST(MessageReaderTest, FindsFramesWhereverTheBytesAreCut) {
  const std::string bytes = Framed("one", "behind it") + Framed("", "") + Framed("three", "");
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    MessageReader reader;
    std::vector<MessageFrame> frames;
    for (const std::string_view part :
         {std::string_view(bytes).substr(0, cut), std::string_view(bytes).substr(cut)}) {
      reader.Append(part);
      while (true) {
        auto frame = reader.Next();
        ASSERT_TRUE(frame.ok()) << frame.status();
        if (!*frame) break;
        frames.push_back(**std::move(frame));
      }
    }
    ASSERT_EQ(frames.size(), 3U) << cut;
    EXPECT_EQ(frames[0].header, "one");
    EXPECT_EQ(frames[0].behind, "behind it");
    EXPECT_EQ(frames[2].header, "three");
    EXPECT_FALSE(reader.is_within_frame());
  }
}

TEST(MessageReaderTest, RefusesFromThePrefixWhatIsTooLarge) {
  MessageReader header({.header = 10, .behind = 20});
  header.Append(MessagePrefix(11, 0));
  EXPECT_EQ(Message(header.Next().status()),
            "a message has a header of 11 bytes; at most 10 are allowed");
  MessageReader behind({.header = 10, .behind = 20});
  behind.Append(MessagePrefix(10, 21));
  EXPECT_EQ(Message(behind.Next().status()),
            "a message has 21 bytes behind its header; at most 20 are allowed");
  MessageReader greatest;
  greatest.Append(MessagePrefix(UINT32_MAX, UINT64_MAX));
  EXPECT_TRUE(absl::IsInvalidArgument(greatest.Next().status()));
}

TEST(MessageReaderTest, RefusesWhatDoesNotBeginAsAFrame) {
  MessageReader reader;
  reader.Append("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(Message(reader.Next().status()), "a message does not begin as a frame does");
}

class MessageSocketTest : public ::testing::Test {
 protected:
  MessageSocketTest() {
    auto pair = MakeSocketPair();
    EXPECT_TRUE(pair.ok());
    front.emplace(std::move(pair->ours), MessageLimits{.header = 1 << 20, .behind = 8 << 20});
    raw = std::move(pair->theirs);
  }

  std::optional<MessageSocket> front;
  FileDescriptor raw;  // the other end
};

TEST_F(MessageSocketTest, CarriesMoreThanASocketHolds) {
  MessageSocket other(std::move(raw));
  const std::string large(3 << 20, 'x');
  std::thread sender([&] {
    EXPECT_TRUE(other.Send("seven", std::vector<std::string_view>{"a", "", large}, Forever).ok());
  });
  const auto frame = front->Receive(Forever);
  sender.join();
  ASSERT_TRUE(frame.ok()) << frame.status();
  EXPECT_EQ(frame->header, "seven");
  EXPECT_EQ(frame->behind, "a" + large);
}

TEST_F(MessageSocketTest, CarriesMorePiecesThanOneCallTakes) {
  MessageSocket other(std::move(raw));
  std::string all;
  std::vector<std::string> pieces;
  for (int i = 0; i < 3000; ++i) pieces.push_back(std::to_string(i));
  for (const std::string& piece : pieces) all += piece;
  const std::vector<std::string_view> views(pieces.begin(), pieces.end());
  ASSERT_TRUE(other.Send("", views, Forever).ok());
  EXPECT_EQ(front->Receive(Forever).value_or(MessageFrame()).behind, all);
}

TEST_F(MessageSocketTest, SaysWhenTheOtherSideEndsWithinAMessage) {
  const std::string half = MessagePrefix(100, 0) + "half";
  ASSERT_EQ(write(raw.get(), half.data(), half.size()), static_cast<ssize_t>(half.size()));
  raw.Close();
  EXPECT_EQ(Message(front->Receive(Forever).status()),
            "the other process has ended within a message");
}

TEST_F(MessageSocketTest, SurvivesASendToAnEndThatIsClosed) {
  raw.Close();
  const absl::Status status = front->Send("ping", {}, Forever);
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(Message(status), "the other process has ended");
}

TEST_F(MessageSocketTest, RefusesToSendWhatIsOverItsLimits) {
  const std::string large(9 << 20, 'x');
  const absl::Status status = front->Send("ping", std::vector<std::string_view>{large}, Forever);
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(std::string(Message(status)), HasSubstr("9437184 behind it is too large"));
  // Nothing of it was sent: the connection is of use.
  MessageSocket other(std::move(raw));
  ASSERT_TRUE(front->Send("three", {}, Forever).ok());
  EXPECT_EQ(other.Receive(Forever).value_or(MessageFrame()).header, "three");
}

TEST_F(MessageSocketTest, EndsAWaitWhenItIsTold) {
  front->SetPatience(std::chrono::milliseconds(1));
  int asked = 0;
  const auto frame = front->Receive([&] { return ++asked < 3; });
  EXPECT_TRUE(absl::IsDeadlineExceeded(frame.status()));
  EXPECT_EQ(asked, 3);
}

TEST_F(MessageSocketTest, EndsAWaitOnAnotherThreadByShutdown) {
  std::thread other([&] { front->Shutdown(); });
  EXPECT_TRUE(absl::IsUnavailable(front->Receive(Forever).status()));
  other.join();
}

TEST_F(MessageSocketTest, PassesDescriptorsBeforeFrames) {
  auto lane = MakeSocketPair();
  ASSERT_TRUE(lane.ok());
  const std::vector<int> sent = {lane->theirs.get()};
  ASSERT_TRUE(SendDescriptors(front->descriptor(), sent).ok());
  ASSERT_TRUE(front->Send("ping", {}, Forever).ok());
  auto received = ReceiveDescriptors(raw.get());
  ASSERT_TRUE(received.ok()) << received.status();
  ASSERT_EQ(received->size(), 1U);
  lane->theirs.Close();
  // It is the other end of the same connection.
  ASSERT_EQ(write(lane->ours.get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(read((*received)[0].get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
  MessageSocket other(std::move(raw));
  EXPECT_TRUE(other.Receive(Forever).ok());
}

TEST_F(MessageSocketTest, SaysWhenDescriptorsDoNotCome) {
  ASSERT_TRUE(front->Send("ping", {}, Forever).ok());
  EXPECT_EQ(Message(ReceiveDescriptors(raw.get()).status()),
            "the connections of an executor are missing in its message");
  front.reset();
  char byte = 0;
  while (read(raw.get(), &byte, 1) > 0) {
  }
  EXPECT_TRUE(absl::IsUnavailable(ReceiveDescriptors(raw.get()).status()));
}

}  // namespace
}  // namespace millrace::server
