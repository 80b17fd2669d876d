#include "server/http2/frame_guard.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace millrace::server {
namespace {

// Frame types and flags of RFC 9113, section 6.
constexpr uint8_t kData = 0;
constexpr uint8_t kHeaders = 1;
constexpr uint8_t kRstStream = 3;
constexpr uint8_t kContinuation = 9;
constexpr uint8_t kEndStream = 0x1;

// A burst may have what the rate allows in a quarter of a second. A client that cancels all its
// calls is no flood, and some hundred resets cost the server only milliseconds.
constexpr double kBurstSeconds = 0.25;

// Clients answer each reply and each of its pieces with WINDOW_UPDATE frames for the stream and for
// the connection, and measure the bandwidth with PING frames; gRPC's clients send about two a call.
constexpr int kControlFramesOfCall = 4;
constexpr int kControlFramesOfData = 1;

constexpr Duration kYoung = std::chrono::seconds(1);

LeakyBucket PerSecond(int count) {
  return LeakyBucket(count, std::max(count * kBurstSeconds, 1.0));
}

}  // namespace

std::string_view ToString(FrameAbuse abuse) {
  switch (abuse) {
    case FrameAbuse::kNone:
      return "none";
    case FrameAbuse::kHeaders:
      return "headers";
    case FrameAbuse::kResets:
      return "resets";
    case FrameAbuse::kControlFrames:
      return "control_frames";
  }
  return "none";
}

FrameGuard::FrameGuard(const FrameLimits& limits)
    : max_block_(limits.header_bytes),
      resets_(PerSecond(limits.resets_per_second)),
      control_frames_(PerSecond(limits.control_frames_per_second)) {}

FrameAbuse FrameGuard::Read(std::span<const char> bytes, TimePoint now) {
  while (!bytes.empty() && abuse_ == FrameAbuse::kNone) {
    if (skip_ != 0) {
      const size_t skipped = std::min<uint64_t>(skip_, bytes.size());
      skip_ -= skipped;
      bytes = bytes.subspan(skipped);
      continue;
    }
    const size_t taken = std::min(kHeaderBytes - header_filled_, bytes.size());
    std::memcpy(header_.data() + header_filled_, bytes.data(), taken);
    header_filled_ += taken;
    bytes = bytes.subspan(taken);
    if (header_filled_ == kHeaderBytes) {
      header_filled_ = 0;
      abuse_ = BeginFrame(now);
    }
  }
  return abuse_;
}

FrameAbuse FrameGuard::BeginFrame(TimePoint now) {
  const uint32_t length = Number(0, 3);
  const uint8_t type = header_[3];
  const uint8_t flags = header_[4];
  const uint32_t stream = Number(5, 9) & 0x7fffffff;
  skip_ = length;
  switch (type) {
    case kData:
      if (length == 0 && (flags & kEndStream) == 0) break;  // an empty frame
      control_frames_.Drain(kControlFramesOfData);
      return FrameAbuse::kNone;
    case kHeaders:
      if (stream > last_stream_) BeginCall(stream, now);
      block_ = 0;
      return AddToBlock(length);
    case kContinuation:
      return AddToBlock(length);
    case kRstStream:
      return Reset(stream, now);
    default:
      break;
  }
  return control_frames_.Add(now) ? FrameAbuse::kNone : FrameAbuse::kControlFrames;
}

void FrameGuard::BeginCall(uint32_t stream, TimePoint now) {
  Age(now);
  last_stream_ = stream;
  last_call_ = now;
  ++calls_;
  control_frames_.Drain(kControlFramesOfCall);
}

FrameAbuse FrameGuard::Reset(uint32_t stream, TimePoint now) {
  Age(now);
  // A client may cancel at once all calls that have run for a while, because they are few.
  if (stream <= old_) {
    return control_frames_.Add(now) ? FrameAbuse::kNone : FrameAbuse::kControlFrames;
  }
  return resets_.Add(now) ? FrameAbuse::kNone : FrameAbuse::kResets;
}

void FrameGuard::Age(TimePoint now) {
  if (now - last_call_ >= kYoung) {
    old_ = last_stream_;
  } else if (now - mark_ >= kYoung) {
    old_ = std::max(old_, marked_);
    marked_ = last_stream_;
    mark_ = now;
  }
}

// Counts the frame's own header too, so that frames without payload are bounded.
FrameAbuse FrameGuard::AddToBlock(size_t length) {
  block_ += kHeaderBytes + length;
  return block_ <= max_block_ ? FrameAbuse::kNone : FrameAbuse::kHeaders;
}

uint32_t FrameGuard::Number(size_t begin, size_t end) const {
  uint32_t number = 0;
  for (size_t i = begin; i < end; ++i) number = number << 8 | header_[i];
  return number;
}

}  // namespace millrace::server
