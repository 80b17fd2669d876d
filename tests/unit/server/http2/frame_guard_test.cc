#include "server/http2/frame_guard.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <span>
#include <string>

#include "tests/unit/server/http2/frame_guard_fixture.h"
#include "tests/unit/server/http2/frames.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(FrameGuardTest, CallsOfAnyNumberPass) {
  for (int i = 0; i < 10'000; ++i) {
    const std::string call = Call();
    ASSERT_EQ(Read(call + Frame(kDataFrame, 0, stream_, 5000) +
                   Frame(kDataFrame, kEndStreamFlag, stream_, 0)),
              FrameAbuse::kNone);
    Answer(stream_);
  }
  EXPECT_EQ(guard_.calls(), 10'000U);
}

TEST_F(FrameGuardTest, TrailersAreNoCall) {
  Read(Frame(kHeadersFrame, kEndHeadersFlag, 1, 100));
  Read(Frame(kHeadersFrame, kEndHeadersFlag | kEndStreamFlag, 1, 10));
  EXPECT_EQ(guard_.calls(), 1U);
}

TEST_F(FrameGuardTest, ACallBeginsWhereItsHeadersEnd) {
  const std::string whole = Frame(kHeadersFrame, kEndHeadersFlag, 1, 100);
  Read(whole.substr(0, whole.size() - 1));
  EXPECT_EQ(guard_.calls(), 0U);
  Read(whole.substr(whole.size() - 1));
  EXPECT_EQ(guard_.calls(), 1U);
  Read(Frame(kHeadersFrame, 0, 3, 100));
  Read(Frame(kContinuationFrame, 0, 3, 100));
  EXPECT_EQ(guard_.calls(), 1U);
  Read(Frame(kContinuationFrame, kEndHeadersFlag, 3, 0));
  EXPECT_EQ(guard_.calls(), 2U);
}

TEST_F(FrameGuardTest, PiecesOfAnySizeAreTheSame) {
  std::string all;
  for (int i = 0; i < 20; ++i) all += Call() + Frame(kDataFrame, kEndStreamFlag, stream_, 300);
  all += Frame(kHeadersFrame, 0, 101, 500) + Frame(kContinuationFrame, 0, 101, 500);
  const size_t abuse_at = all.size() - 500;  // the second header says too much
  for (size_t piece = 1; piece < 40; ++piece) {
    FrameGuard guard(kFrameLimits, totals_, address_);
    std::string preface = kPreface;
    guard.Read(preface, now_);
    size_t read = 0;
    while (read < all.size() && guard.abuse() == FrameAbuse::kNone) {
      std::string bytes = all.substr(read, piece);
      guard.Read(bytes, now_);
      read += bytes.size();
    }
    EXPECT_EQ(guard.abuse(), FrameAbuse::kHeaders) << piece;
    EXPECT_EQ(guard.calls(), 20U) << piece;
    EXPECT_EQ(read, std::min((abuse_at + piece - 1) / piece * piece, all.size())) << piece;
  }
}

TEST_F(FrameGuardTest, AConnectionIsIdleWithoutACallThatWaits) {
  Read(Call());
  now_ += seconds(600);
  EXPECT_FALSE(guard_.IdleSince(now_)) << "the call waits for its answer";
  Read(Frame(kWindowUpdateFrame, 0, 0, 4));
  const TimePoint answered = now_;
  Answer(stream_);
  EXPECT_FALSE(guard_.IdleSince(now_ + milliseconds(999))) << "the next call may be on its way";
  EXPECT_EQ(guard_.IdleSince(now_ + seconds(1)), answered);
}

TEST_F(FrameGuardTest, AStreamOfAnswersIsIdleOnceItHasBeenSilentForLong) {
  Read(Call());
  const std::string more = Frame(kDataFrame, 0, stream_, 100);
  guard_.ReadSent(Frame(kHeadersFrame, kEndHeadersFlag, stream_, 20) + more);
  now_ += seconds(19);
  EXPECT_FALSE(guard_.IdleSince(now_));
  EXPECT_TRUE(guard_.IdleSince(now_ + seconds(1)));
  Read(Frame(kWindowUpdateFrame, 0, 0, 4));
  guard_.ReadSent(more);
  EXPECT_FALSE(guard_.IdleSince(now_ + seconds(1)));
  now_ += seconds(60);
  EXPECT_TRUE(guard_.IdleSince(now_));
  Read(Call());
  EXPECT_FALSE(guard_.IdleSince(now_ + seconds(60))) << "another call waits";
  Read(Frame(kRstStreamFrame, 0, stream_, 4));
  EXPECT_TRUE(guard_.IdleSince(now_ + seconds(60)));
}

TEST_F(FrameGuardTest, HeadersUpToTheLimitPass) {
  EXPECT_EQ(Read(Frame(kHeadersFrame, kEndHeadersFlag, 1, 991)), FrameAbuse::kNone);
  EXPECT_EQ(Read(MakeFrameHeader(kHeadersFrame, kEndHeadersFlag, 3, 992)), FrameAbuse::kHeaders);
}

TEST_F(FrameGuardTest, HeadersInManyPiecesCountTogether) {
  EXPECT_EQ(Read(Frame(kHeadersFrame, 0, 1, 491)), FrameAbuse::kNone);
  EXPECT_EQ(Read(Frame(kContinuationFrame, 0, 1, 200)), FrameAbuse::kNone);
  EXPECT_EQ(Read(Frame(kContinuationFrame, kEndHeadersFlag, 1, 282)), FrameAbuse::kNone);
  EXPECT_EQ(Read(Frame(kHeadersFrame, 0, 3, 491)), FrameAbuse::kNone);
  EXPECT_EQ(Read(Frame(kContinuationFrame, 0, 3, 492)), FrameAbuse::kHeaders);
}

TEST_F(FrameGuardTest, OnlyTheNextFrameOfItsStreamContinuesABlock) {
  const auto read = [&](std::string frames) {
    FrameGuard guard(kFrameLimits, totals_, address_);
    frames.insert(0, kPreface);
    return guard.Read(frames, now_);
  };
  const std::string begun = Frame(kHeadersFrame, 0, 1, 100);
  const std::string end = Frame(kContinuationFrame, kEndHeadersFlag, 1, 100);
  EXPECT_EQ(read(begun + end), FrameAbuse::kNone);
  EXPECT_EQ(read(end), FrameAbuse::kHeaders);
  EXPECT_EQ(read(begun + end + end), FrameAbuse::kHeaders);
  EXPECT_EQ(read(begun + Frame(kContinuationFrame, kEndHeadersFlag, 3, 100)), FrameAbuse::kHeaders);
  EXPECT_EQ(read(begun + Frame(kWindowUpdateFrame, 0, 1, 4)), FrameAbuse::kHeaders);
}

TEST_F(FrameGuardTest, EmptyContinuationsHaveAnEnd) {
  Read(Frame(kHeadersFrame, 0, 1, 100));
  int frames = 0;
  while (Read(Frame(kContinuationFrame, 0, 1, 0)) == FrameAbuse::kNone) ASSERT_LT(++frames, 1000);
}

TEST_F(FrameGuardTest, HeadersMustNotExpandToMoreThanTwiceTheLimit) {
  const std::string add = "\x40\x01k\x5c" + std::string(92, 'v');
  const size_t size = 93 + HeaderMeter::kFieldOverhead;
  ASSERT_EQ(2 * kFrameLimits.header_bytes % size, 0U) << "so that the limit itself is reached";
  const std::string again(2 * kFrameLimits.header_bytes / size - 1, '\xbe');
  EXPECT_EQ(Read(HeadersFrame(1, add + again)), FrameAbuse::kNone);
  EXPECT_EQ(Read(HeadersFrame(3, again + "\xbe")), FrameAbuse::kNone);
  EXPECT_EQ(Read(HeadersFrame(5, again + "\xbe\xbe")), FrameAbuse::kHeaders);
}

TEST_F(FrameGuardTest, AnExpansionInManyFramesCountsTogether) {
  ASSERT_EQ(Read(HeadersFrame(1, "\x40\x01k\x64" + std::string(100, 'v'))), FrameAbuse::kNone);
  ASSERT_EQ(Read(MakeFrameHeader(kHeadersFrame, 0, 3, 8) + std::string(8, '\xbe')),
            FrameAbuse::kNone);
  EXPECT_EQ(Read(MakeFrameHeader(kContinuationFrame, 0, 3, 8) + std::string(8, '\xbe')),
            FrameAbuse::kHeaders);
}

TEST_F(FrameGuardTest, ManyFieldsAreWork) {
  FrameGuard guard({.control_frames_per_second = 80}, totals_, address_);
  const auto read = [&](std::string bytes) { return guard.Read(bytes, now_); };
  ASSERT_EQ(read(kPreface), FrameAbuse::kNone);
  for (uint32_t call = 0; call < 100; ++call)
    ASSERT_EQ(read(HeadersFrame(2 * call + 1, std::string(32, '\x82'))), FrameAbuse::kNone);
  EXPECT_EQ(read(HeadersFrame(201, std::string(250, '\x82'))), FrameAbuse::kControlFrames);
}

// Each block is within the limit, and so is the work.
TEST_F(FrameGuardTest, TheHeadersOfOpenCallsAreBoundedTogether) {
  FrameGuard guard({.header_bytes = 16'000, .control_frames_per_second = 1'000'000, .streams = 10},
                   totals_, address_);
  const auto read = [&](std::string bytes) { return guard.Read(bytes, now_); };
  ASSERT_EQ(read(kPreface), FrameAbuse::kNone);
  const std::string block(200, '\x82');  // 8,400 bytes
  for (uint32_t stream = 1; stream < 9; stream += 2)
    ASSERT_EQ(read(HeadersFrame(stream, block)), FrameAbuse::kNone);
  guard.ReadSent(Frame(kHeadersFrame, kEndHeadersFlag | kEndStreamFlag, 1, 20));
  EXPECT_EQ(read(HeadersFrame(9, block)), FrameAbuse::kNone);
  EXPECT_EQ(read(HeadersFrame(11, block)), FrameAbuse::kHeaders);
}

TEST_F(FrameGuardTest, HeadersBeginAfterTheirPriority) {
  const std::string priority =
      MakeFrameHeader(kHeadersFrame, kEndHeadersFlag | kPriorityFlag, 1, 6);
  EXPECT_EQ(Read(priority + std::string(5, '\xff') + '\x82'), FrameAbuse::kNone);
  EXPECT_EQ(Read(MakeFrameHeader(kHeadersFrame, kPriorityFlag, 3, 4)), FrameAbuse::kHeaders);
}

TEST_F(FrameGuardTest, HeadersThatCannotBeMeasuredAreAbuse) {
  const std::string literal = HeaderBlock(40);
  for (const std::string& frames :
       {HeadersFrame(1, "\xbe"), HeadersFrame(1, "\xff\xff\xff\xff\xff\xff"),
        HeadersFrame(1, literal.substr(0, 30)) + HeadersFrame(3, literal),
        MakeFrameHeader(kHeadersFrame, kEndHeadersFlag | kPaddedFlag, 1, 9)}) {
    FrameGuard guard(kFrameLimits, totals_, address_);
    std::string bytes = kPreface + frames;
    EXPECT_EQ(guard.Read(bytes, now_), FrameAbuse::kHeaders);
  }
}

TEST_F(FrameGuardTest, AnAddressIsCrowdedWhenItLeavesLessToOthersThanItHas) {
  const FrameLimits limits = {.all_calls = 40};
  FrameGuard many(limits, totals_, address_);
  FrameGuard same(limits, totals_, address_);
  FrameGuard other(limits, totals_, std::make_shared<ClientTotals>());
  const auto calls = [&](FrameGuard& guard, uint32_t count) {
    std::string bytes = kPreface;
    for (uint32_t i = 0; i < count; ++i)
      bytes += Frame(kHeadersFrame, kEndHeadersFlag, 2 * i + 1, 100);
    EXPECT_EQ(guard.Read(bytes, now_), FrameAbuse::kNone);
  };
  calls(many, 20);
  EXPECT_FALSE(many.crowded());
  calls(other, 10);
  EXPECT_FALSE(other.crowded());
  EXPECT_TRUE(many.crowded());
  calls(same, 1);
  EXPECT_TRUE(same.crowded());
  many.End(FrameAbuse::kStreams);
  EXPECT_EQ(many.abuse(), FrameAbuse::kStreams);
  EXPECT_EQ(address_->calls, 1);
  EXPECT_EQ(totals_.calls, 11);
  EXPECT_FALSE(same.crowded());
  EXPECT_FALSE(many.crowded());
}

TEST_F(FrameGuardTest, TellsWhenTheServerLastAnswered) {
  const TimePoint start = now_;
  Read(Call());
  now_ += seconds(10);
  Read(Call());
  EXPECT_EQ(guard_.last_answer(), start);
  Answer(stream_);
  EXPECT_EQ(guard_.last_answer(), now_);
  Answer(stream_ - 2);
  now_ += seconds(10);
  Read(Call());
  EXPECT_EQ(guard_.last_answer(), now_);
}

TEST_F(FrameGuardTest, ACallIsCountedUntilItEnds) {
  for (int i = 0; i < 4; ++i) ASSERT_EQ(Read(Call()), FrameAbuse::kNone);
  EXPECT_EQ(totals_.calls, 4);
  Answer(stream_);
  EXPECT_EQ(totals_.calls, 3);
  Read(Frame(kRstStreamFrame, 0, stream_ - 2, 4));
  EXPECT_EQ(totals_.calls, 2);
  guard_.Leave();
  guard_.Leave();
  EXPECT_EQ(totals_.calls, 0);
  // A client may have sent more than was read when it hung up.
  for (size_t i = 2; i < kFrameLimits.streams; ++i) ASSERT_EQ(Read(Call()), FrameAbuse::kNone);
  EXPECT_EQ(Read(Call()), FrameAbuse::kStreams);
  Answer(stream_ - 2);
  EXPECT_EQ(totals_.calls, 0);
}

TEST_F(FrameGuardTest, MessagesAreGivenBackWithTheirCallsAndTheConnection) {
  const std::string message = MakeFrameHeader(kDataFrame, 0, 3, 5) + std::string("\0\0\x40\0\0", 5);
  ASSERT_EQ(Read(Call() + message), FrameAbuse::kNone);
  EXPECT_GE(totals_.message_bytes, 4U << 20);
  EXPECT_EQ(totals_.message_bytes, address_->message_bytes);
  guard_.ReadSent(Frame(kRstStreamFrame, 0, stream_, 4));
  EXPECT_LE(totals_.message_bytes, 2 * MessageBytes::kStep);
  guard_.Leave();
  EXPECT_EQ(totals_.message_bytes, 0U);
  EXPECT_EQ(address_->message_bytes, 0U);
}

// In a call that goes on, as one does in which both sides send messages.
TEST_F(FrameGuardTest, AMessageThatTheServerHasReadIsGivenBack) {
  const std::string message = MakeFrameHeader(kDataFrame, 0, 3, 2005) +
                              std::string("\0\0\0\x07\xd0", 5) + std::string(2000, 'm');
  ASSERT_EQ(Read(Call()), FrameAbuse::kNone);
  for (const std::string& sent :
       {Frame(kWindowUpdateFrame, 0, 3, 4), Frame(kDataFrame, 0, 3, 300)}) {
    for (int i = 0; i < 100'000; ++i) {
      ASSERT_EQ(Read(message), FrameAbuse::kNone) << i;
      guard_.ReadSent(sent);
    }
    EXPECT_LE(totals_.message_bytes, 3 * MessageBytes::kStep);
  }
}

// The server sends its answer a byte at a time.
TEST_F(FrameGuardTest, WindowsOfAByteAreAFlood) {
  ASSERT_EQ(Read(Call()), FrameAbuse::kNone);
  int windows = 0;
  while (Read(Frame(kWindowUpdateFrame, 0, stream_, 4)) == FrameAbuse::kNone) {
    guard_.ReadSent(Frame(kDataFrame, 0, stream_, 1));
    ASSERT_LT(++windows, 100);
  }
  EXPECT_EQ(guard_.abuse(), FrameAbuse::kControlFrames);
}

TEST_F(FrameGuardTest, OpenCallsTakeMemory) {
  for (size_t i = 0; i < kFrameLimits.streams; ++i) ASSERT_EQ(Read(Call()), FrameAbuse::kNone);
  EXPECT_GE(totals_.message_bytes, kFrameLimits.streams * 4096);
}

TEST_F(FrameGuardTest, MessagesThatTheServerDoesNotReadAreBounded) {
  const std::string tiny = MakeFrameHeader(kDataFrame, 0, 3, 305) +
                           std::string("\0\0\0\x01\x2c", 5) + std::string(300, 'm');
  ASSERT_EQ(Read(Call()), FrameAbuse::kNone);
  for (int i = 0; i < 1'000'000 && guard_.abuse() == FrameAbuse::kNone; ++i) Read(tiny);
  EXPECT_EQ(guard_.abuse(), FrameAbuse::kMessages);
}

TEST_F(FrameGuardTest, CallsCostMoreThanTheirBytes) {
  const auto cost = [&](const std::string& bytes) {
    const uint64_t before = guard_.cost();
    EXPECT_EQ(Read(bytes), FrameAbuse::kNone);
    return guard_.cost() - before;
  };
  const uint64_t call = cost(Call());
  const uint64_t message = cost(Frame(kDataFrame, 0, stream_, 120));  // a message begins
  const uint64_t frame = cost(Frame(kSettingsFrame, kAckFlag, 0, 0));
  EXPECT_GT(call, 10 * frame);
  EXPECT_GT(message, 10 * frame);
  EXPECT_GT(cost(Frame(kRstStreamFrame, 0, stream_, 4)), 10 * frame);
  EXPECT_LT(cost(Frame(kRstStreamFrame, 0, stream_, 4)), 2 * frame);  // it is over
}

// Frames that came with it, or in later pieces, do not hide it.
TEST_F(FrameGuardTest, NothingAfterTheFrameAtFaultIsRead) {
  std::string harmless = Call();
  harmless += Call();
  harmless += Frame(kDataFrame, 0, stream_, 300);
  const std::string at_fault =
      HeadersFrame(stream_ + 2, "\xbf");  // names a field that is not there
  ASSERT_EQ(Read(harmless + at_fault + Frame(kPingFrame, kAckFlag, 0, 8) + Call()),
            FrameAbuse::kHeaders);
  EXPECT_EQ(guard_.harmless_bytes(), harmless.size());
  EXPECT_EQ(guard_.calls(), 3U);
  EXPECT_EQ(Read(Call()), FrameAbuse::kHeaders);
  EXPECT_EQ(guard_.harmless_bytes(), 0U);
}

TEST_F(FrameGuardTest, TheOpenCallsCanBeEndedWhereverTheFaultIs) {
  std::string all;
  for (int i = 0; i < 3; ++i) all += Call();
  all += Frame(kDataFrame, 0, stream_, 300) + Frame(kDataFrame, kEndStreamFlag, stream_, 300) +
         Frame(kHeadersFrame, 0, stream_ + 2, 5000);
  for (size_t piece = 1; piece < 500; piece += 7) {
    FrameGuard guard(kFrameLimits, totals_, address_);
    std::string seen = kPreface;
    guard.Read(seen, now_);
    for (size_t at = 0; guard.abuse() == FrameAbuse::kNone; at += piece) {
      std::string bytes = all.substr(at, piece);
      guard.Read(bytes, now_);
      seen += guard.abuse() == FrameAbuse::kNone ? bytes : bytes.substr(0, guard.harmless_bytes());
    }
    GradualEnd end = guard.EndGradually();
    std::string rest(8192, '\0');
    while (const size_t size = end.Write(rest)) seen += rest.substr(0, size);
    size_t resets = 0;
    FrameReader reader(kPreface.size());
    reader.Read(
        std::span<const char>(seen),
        [&](const FrameHeader& frame) {
          EXPECT_TRUE(frame.type != kRstStreamFrame || frame.stream % 2 == 1);
          resets += frame.type == kRstStreamFrame ? 1 : 0;
          return true;
        },
        [](const FrameHeader&, std::span<const char>) { return true; });
    EXPECT_TRUE(reader.begun_header().empty());
    EXPECT_EQ(reader.payload_left(), 0U);
    EXPECT_EQ(resets, guard.open_streams());
    EXPECT_GE(resets, 3U);
  }
}

TEST_F(FrameGuardTest, AbuseStays) {
  Read(Frame(kHeadersFrame, 0, 1, 5000));
  now_ += seconds(100);
  EXPECT_EQ(Read(Call()), FrameAbuse::kHeaders);
  EXPECT_EQ(guard_.abuse(), FrameAbuse::kHeaders);
}

}  // namespace
}  // namespace millrace::server
