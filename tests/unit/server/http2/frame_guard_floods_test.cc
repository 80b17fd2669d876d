// Frames that are harmless one by one and abuse in a flood: resets, frames without data, late
// frames of streams that are over, tiny pieces of data.

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "server/http2/frame_guard.h"
#include "tests/unit/server/http2/frame_guard_fixture.h"
#include "tests/unit/server/http2/frames.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(FrameGuardTest, CallsResetAsTheyAreMadeAreAbuse) {
  for (int i = 0; i < kResetsAtOnce; ++i) ASSERT_EQ(Read(Call(true)), FrameAbuse::kNone);
  EXPECT_EQ(Read(Call(true)), FrameAbuse::kResets);
}

TEST_F(FrameGuardTest, ResetsWithinTheRateGoOnForEver) {
  for (int i = 0; i < 4000; ++i) {
    now_ += std::chrono::microseconds(1'000'000) / kFrameLimits.resets_per_second;
    ASSERT_EQ(Read(Call(true)), FrameAbuse::kNone) << i;
  }
}

TEST_F(FrameGuardTest, ResetsAtTwiceTheRateAreAbuseBeforeLong) {
  int resets = 0;
  while (Read(Call(true)) == FrameAbuse::kNone) {
    now_ += std::chrono::microseconds(1'000'000) / kFrameLimits.resets_per_second / 2;
    ASSERT_LE(++resets, 3 * kResetsAtOnce);
  }
}

TEST_F(FrameGuardTest, AClientMayDropAtOnceWhatItHasHadForAWhile) {
  constexpr int kCalls = 15;  // more than may be reset at once
  for (const bool others_go_on : {false, true}) {
    std::string resets;
    for (int i = 0; i < kCalls; ++i) {
      ASSERT_EQ(Read(Call()), FrameAbuse::kNone);
      resets += Frame(kRstStreamFrame, 0, stream_, 4);
    }
    for (int i = 0; i < 20; ++i) {
      now_ += std::chrono::milliseconds(100);
      if (!others_go_on) continue;
      Read(Call());
      Answer(stream_);
    }
    EXPECT_EQ(Read(resets), FrameAbuse::kNone) << others_go_on;
    now_ += seconds(1);
  }
}

TEST_F(FrameGuardTest, YoungCallsAreAbuseBesideOldOnes) {
  ASSERT_EQ(Read(Call()), FrameAbuse::kNone);
  now_ += seconds(10);
  for (int i = 0; i < kResetsAtOnce; ++i) ASSERT_EQ(Read(Call(true)), FrameAbuse::kNone);
  EXPECT_EQ(Read(Call(true)), FrameAbuse::kResets);
}

TEST_F(FrameGuardTest, AnOldCallCannotBeResetForEver) {
  ASSERT_EQ(Read(Call()), FrameAbuse::kNone);
  now_ += seconds(10);
  const std::string reset = Frame(kRstStreamFrame, 0, stream_, 4);
  for (int i = 0; i < kControlFramesAtOnce; ++i) ASSERT_EQ(Read(reset), FrameAbuse::kNone);
  EXPECT_EQ(Read(reset), FrameAbuse::kControlFrames);
}

class FramesWithoutDataTest : public FrameGuardTest,
                              public ::testing::WithParamInterface<std::pair<FrameType, size_t>> {};

TEST_P(FramesWithoutDataTest, AreAbuseInAFlood) {
  const std::string frame = Frame(GetParam().first, 0, 0, GetParam().second);
  for (int i = 0; i < kControlFramesAtOnce; ++i) ASSERT_EQ(Read(frame), FrameAbuse::kNone);
  EXPECT_EQ(Read(frame), FrameAbuse::kControlFrames);
}

TEST_P(FramesWithoutDataTest, PassWithinTheRate) {
  const std::string frame = Frame(GetParam().first, 0, 0, GetParam().second);
  for (int i = 0; i < 1000; ++i) {
    now_ += std::chrono::microseconds(1'000'000) / kFrameLimits.control_frames_per_second;
    ASSERT_EQ(Read(frame), FrameAbuse::kNone) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, FramesWithoutDataTest,
                         ::testing::Values(std::pair(kDataFrame, 0), std::pair(kPriorityFrame, 5),
                                           std::pair(kSettingsFrame, 6), std::pair(kPingFrame, 8),
                                           std::pair(kWindowUpdateFrame, 4),
                                           std::pair(kUnknownFrame, 30)));

// A client of gRPC sends two such frames a call, whatever its rate.
TEST_F(FrameGuardTest, FramesThatCallsBringAlongAreNoFlood) {
  const std::string with_call = Frame(kWindowUpdateFrame, 0, 0, 4) + Frame(kPingFrame, 0, 0, 8);
  for (int i = 0; i < 10'000; ++i) {
    const std::string call = Call();
    ASSERT_EQ(Read(call + Frame(kDataFrame, kEndStreamFlag, stream_, 100) + with_call),
              FrameAbuse::kNone)
        << i;
    guard_.ReadSent(Frame(kPingFrame, kAckFlag, 0, 8));
    Answer(stream_);
  }
}

TEST_F(FrameGuardTest, CallsDoNotSaveUpForAFlood) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(Read(Call()), FrameAbuse::kNone);
    Answer(stream_);
  }
  const std::string ping = Frame(kPingFrame, 0, 0, 8);
  for (int i = 0; i < kControlFramesAtOnce; ++i) ASSERT_EQ(Read(ping), FrameAbuse::kNone);
  EXPECT_EQ(Read(ping), FrameAbuse::kControlFrames);
}

TEST_F(FrameGuardTest, WhatAFrameCarriesIsNotReadAsFrames) {
  // The payload looks like a flood of resets.
  std::string inside;
  for (int i = 0; i < 1000; ++i) inside += Frame(kRstStreamFrame, 0, 1, 4);
  EXPECT_EQ(Read(MakeFrameHeader(kDataFrame, 0, 1, static_cast<uint32_t>(inside.size())) + inside),
            FrameAbuse::kNone);
  EXPECT_EQ(guard_.calls(), 0U);
}

// It does not matter whether the client has acknowledged the server's SETTINGS.
TEST_F(FrameGuardTest, NoMoreStreamsAreOpenThanTheServerAllows) {
  for (size_t i = 0; i < kFrameLimits.streams; ++i) ASSERT_EQ(Read(Call()), FrameAbuse::kNone);
  EXPECT_EQ(guard_.open_streams(), kFrameLimits.streams);
  Answer(3);
  EXPECT_EQ(Read(Call()), FrameAbuse::kNone);
  EXPECT_EQ(Read(Call()), FrameAbuse::kStreams);
}

TEST_F(FrameGuardTest, AResetOfEitherSideEndsAStream) {
  ASSERT_EQ(Read(Call()), FrameAbuse::kNone);
  ASSERT_EQ(Read(Call()), FrameAbuse::kNone);
  guard_.ReadSent(Frame(kRstStreamFrame, 0, stream_, 4));
  EXPECT_EQ(guard_.open_streams(), 1U);
  Read(Frame(kRstStreamFrame, 0, stream_ - 2, 4));
  EXPECT_EQ(guard_.open_streams(), 0U);
}

TEST_F(FrameGuardTest, HeadersOfStreamsThatAreNotNewAreBounded) {
  for (const uint32_t stream : {1U, 2U, 4000U, 0U}) {
    FrameGuard guard(kFrameLimits, totals_, address_);
    std::string begin = kPreface + Frame(kHeadersFrame, kEndHeadersFlag, 3, 10);
    ASSERT_EQ(guard.Read(begin, now_), FrameAbuse::kNone);
    int frames = 0;
    FrameAbuse abuse = FrameAbuse::kNone;
    while (abuse == FrameAbuse::kNone && ++frames < 1000) {
      std::string again = Frame(kHeadersFrame, kEndHeadersFlag | kEndStreamFlag, stream, 1);
      abuse = guard.Read(again, now_);
    }
    EXPECT_EQ(abuse, FrameAbuse::kControlFrames) << stream;
    EXPECT_LE(frames, kControlFramesAtOnce + 1) << stream;
  }
}

TEST_F(FrameGuardTest, TrailersOverAndOverAreBounded) {
  ASSERT_EQ(Read(Call()), FrameAbuse::kNone);
  const std::string trailers = Frame(kHeadersFrame, kEndHeadersFlag | kEndStreamFlag, stream_, 10);
  int frames = 0;
  while (Read(trailers) == FrameAbuse::kNone) ASSERT_LT(++frames, kControlFramesAtOnce + 1);
}

// Whatever its type is.
TEST_F(FrameGuardTest, BytesOfAFrameAreWork) {
  EXPECT_EQ(Read(Frame(kUnknownFrame, 0, 0, 16'384)), FrameAbuse::kControlFrames);
}

TEST_F(FrameGuardTest, LongHeadersOfCallsAreWork) {
  int calls = 0;
  FrameAbuse abuse = FrameAbuse::kNone;
  FrameGuard guard({.control_frames_per_second = 80}, totals_, address_);
  std::string bytes = kPreface;
  for (uint32_t stream = 1; abuse == FrameAbuse::kNone; stream += 2) {
    bytes += Frame(kHeadersFrame, kEndHeadersFlag, stream, 4000);
    abuse = guard.Read(bytes, now_);
    bytes.clear();
    ASSERT_LT(++calls, 10);
  }
  EXPECT_EQ(abuse, FrameAbuse::kControlFrames);
}

TEST_F(FrameGuardTest, DataOfStreamsThatAreOverIsBounded) {
  int frames = 0;
  while (Read(Frame(kDataFrame, 0, 1, 16'384)) == FrameAbuse::kNone) ASSERT_LT(++frames, 10);
  EXPECT_GT(frames, 2);  // a client may have sent a window before it learned of the end
}

TEST_F(FrameGuardTest, PaddedDataIsBounded) {
  ASSERT_EQ(Read(Call()), FrameAbuse::kNone);
  const std::string padded = Frame(kDataFrame, kPaddedFlag, stream_, 1000);
  int frames = 0;
  while (Read(padded) == FrameAbuse::kNone) ASSERT_LT(++frames, 100);
}

TEST_F(FrameGuardTest, TinyPiecesOfDataAreBounded) {
  ASSERT_EQ(Read(Call()), FrameAbuse::kNone);
  std::string byte = MakeFrameHeader(kDataFrame, 0, stream_, 1) + '\0';
  int frames = 0;
  while (Read(byte) == FrameAbuse::kNone) ASSERT_LT(++frames, 1000);
}

TEST_F(FrameGuardTest, EmptyMessagesInOneFrameAreBounded) {
  ASSERT_EQ(Read(Call()), FrameAbuse::kNone);
  EXPECT_EQ(Read(MakeFrameHeader(kDataFrame, 0, stream_, 16'000) + std::string(16'000, '\0')),
            FrameAbuse::kControlFrames);
}

TEST_F(FrameGuardTest, SmallMessagesThatAreAnsweredGoOnForEver) {
  ASSERT_EQ(Read(Call()), FrameAbuse::kNone);
  const std::string message =
      MakeFrameHeader(kDataFrame, 0, stream_, 6) + std::string("\0\0\0\0\1x", 6);
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_EQ(Read(message + Frame(kWindowUpdateFrame, 0, 0, 4)), FrameAbuse::kNone) << i;
    guard_.ReadSent(Frame(kDataFrame, 0, stream_, 100));
  }
}

TEST_F(FrameGuardTest, AnswersThatAreNotReadAreBounded) {
  FrameGuard guard({.control_frames_per_second = 1'000'000}, totals_, address_);
  std::string bytes = kPreface;
  int pings = 0;
  while (guard.Read(bytes, now_) == FrameAbuse::kNone) {
    bytes = Frame(kPingFrame, 0, 0, 8);
    ASSERT_LT(++pings, 2000);
  }
  EXPECT_EQ(guard.abuse(), FrameAbuse::kUnread);
}

}  // namespace
}  // namespace millrace::server
