#include "server/http2/gradual_end.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "tests/unit/server/http2/frames.h"

namespace millrace::server {
namespace {

struct SeenFrame {
  FrameHeader header;
  uint32_t payload = 0;  // as it came
};

// Reads frames as gRPC does.
class GradualEndTest : public ::testing::Test {
 protected:
  void Read(std::string bytes) {
    reader_.Read(
        std::span(bytes),
        [&](const FrameHeader& frame) {
          frames_.push_back({.header = frame});
          return true;
        },
        [&](const FrameHeader&, std::span<char> payload) {
          frames_.back().payload += static_cast<uint32_t>(payload.size());
          return true;
        });
  }
  // Reads what ends the calls, in pieces of this size.
  void ReadEnd(GradualEnd end, size_t piece) {
    std::string bytes(piece, '\0');
    while (const size_t size = end.Write(bytes)) Read(bytes.substr(0, size));
  }
  // Returns the streams of the last frames, which must be resets.
  std::vector<uint32_t> Resets(size_t count) const {
    std::vector<uint32_t> streams;
    for (const SeenFrame& frame : std::span(frames_).last(count)) {
      EXPECT_EQ(frame.header.type, kRstStreamFrame);
      EXPECT_EQ(frame.payload, 4U);
      streams.push_back(frame.header.stream);
    }
    return streams;
  }

  FrameReader reader_{0};
  std::vector<SeenFrame> frames_;
};

TEST_F(GradualEndTest, ResetsAllCallsAFewAtATime) {
  std::vector<uint32_t> streams;
  for (uint32_t stream = 1; stream < 200; stream += 2) streams.push_back(stream);
  GradualEnd end(reader_, {}, streams);
  std::string bytes(8192, '\0');
  EXPECT_EQ(end.Write(bytes), GradualEnd::kCallsAtOnce * 13);
  for (const size_t piece : {size_t{1}, size_t{5}, size_t{8192}}) {
    frames_.clear();
    ReadEnd(GradualEnd(reader_, {}, streams), piece);
    EXPECT_EQ(frames_.size(), streams.size());
    EXPECT_EQ(Resets(frames_.size()), std::vector<uint32_t>(streams.rbegin(), streams.rend()));
  }
}

TEST_F(GradualEndTest, CompletesTheFrameThatHasBegun) {
  const std::string frame = Frame(kDataFrame, 0, 1, 1000);
  for (const size_t seen : {size_t{0}, size_t{9}, size_t{10}, size_t{1008}, frame.size()}) {
    frames_.clear();
    Read(frame.substr(0, seen));
    ReadEnd(GradualEnd(reader_, {}, {5, 7}), 100);
    EXPECT_EQ(frames_.size(), seen == 0 ? 2U : 3U);
    EXPECT_TRUE(seen == 0 || frames_[0].payload == 1000U);
    EXPECT_EQ(Resets(2), (std::vector<uint32_t>{7, 5}));
  }
}

TEST_F(GradualEndTest, CompletesAHeaderByThatOfTheFrameAtFault) {
  const std::string frame = Frame(kSettingsFrame, 0, 0, 60);
  const FrameHeader at_fault = {.length = 60, .type = kSettingsFrame};
  for (size_t seen = 1; seen < FrameHeader::kBytes; ++seen) {
    frames_.clear();
    Read(frame.substr(0, seen));
    ReadEnd(GradualEnd(reader_, at_fault, {5}), 100);
    ASSERT_EQ(frames_.size(), 2U);
    EXPECT_EQ(frames_[0].header.type, kSettingsFrame);
    EXPECT_EQ(frames_[0].payload, 60U);
    EXPECT_EQ(Resets(1), std::vector<uint32_t>{5});
  }
}

// The client has hung up in the middle of a header.
TEST_F(GradualEndTest, CompletesAHeaderWhoseRestIsNotKnown) {
  const std::string frame = Frame(kDataFrame, 0, 0x01020304, 700);
  for (size_t seen = 1; seen < FrameHeader::kBytes; ++seen) {
    frames_.clear();
    Read(frame.substr(0, seen));
    ReadEnd(GradualEnd(reader_, {}, {5}), 100);
    ASSERT_EQ(frames_.size(), 2U) << seen;
    EXPECT_EQ(frames_[0].header.length, frames_[0].payload);
    EXPECT_TRUE(seen > 3 || frames_[0].header.type == 0xff);
    EXPECT_EQ(Resets(1), std::vector<uint32_t>{5});
  }
}

}  // namespace
}  // namespace millrace::server
