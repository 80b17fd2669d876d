#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "server/http2/frame_guard.h"
#include "tests/unit/server/http2/frames.h"

namespace millrace::server {

inline constexpr FrameLimits kFrameLimits = {
    .header_bytes = 1000, .resets_per_second = 40, .control_frames_per_second = 80, .streams = 64};
inline constexpr int kResetsAtOnce = 10;
inline constexpr int kControlFramesAtOnce = 20;

class FrameGuardTest : public ::testing::Test {
 protected:
  FrameGuardTest() { EXPECT_EQ(Read(kPreface), FrameAbuse::kNone); }

  FrameAbuse Read(std::string bytes) { return guard_.Read(bytes, now_); }
  // The server answers a call.
  void Answer(uint32_t stream) {
    guard_.ReadSent(Frame(kHeadersFrame, kEndHeadersFlag, stream, 20) +
                    Frame(kDataFrame, 0, stream, 100) +
                    Frame(kHeadersFrame, kEndHeadersFlag | kEndStreamFlag, stream, 20));
  }
  std::string Call(bool reset = false) {
    stream_ += 2;
    std::string frames = Frame(kHeadersFrame, kEndHeadersFlag, stream_, 100);
    return reset ? frames + Frame(kRstStreamFrame, 0, stream_, 4) : frames;
  }

  FrameTotals totals_;
  std::shared_ptr<ClientTotals> address_ = std::make_shared<ClientTotals>();
  FrameGuard guard_{kFrameLimits, totals_, address_};
  TimePoint now_{std::chrono::hours(1)};
  uint32_t stream_ = 1;
};

}  // namespace millrace::server
