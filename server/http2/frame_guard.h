#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "mps_runtime/base/clock.h"
#include "server/http2/leaky_bucket.h"

namespace millrace::server {

// The limits of what a client may send on one connection.
struct FrameLimits {
  size_t header_bytes = 32 << 10;  // of one call's headers, as sent
  int resets_per_second = 1000;
  int control_frames_per_second = 10'000;  // beyond those that calls and their data cause
};

// The kinds of abuse, which no well-behaved client needs.
enum class FrameAbuse : uint8_t { kNone, kHeaders, kResets, kControlFrames };
std::string_view ToString(FrameAbuse abuse);

// Reads the headers of HTTP/2 frames (RFC 9113) that a client sends, and detects abuse that the
// transport does not bound: header blocks without end, calls that are cancelled as they are made,
// floods of frames without content. Keeps no payload and allocates nothing; takes some nanoseconds
// a frame. One thread at a time.
class FrameGuard {
 public:
  explicit FrameGuard(const FrameLimits& limits);

  // Reads the next bytes of the connection, in pieces of any size, beginning with the preface.
  // `now` must not decrease. Once it has found abuse, it keeps returning that.
  FrameAbuse Read(std::span<const char> bytes, TimePoint now);

  FrameAbuse abuse() const { return abuse_; }
  // Returns the number of calls that the client has begun.
  uint64_t calls() const { return calls_; }

 private:
  static constexpr size_t kPrefaceBytes = 24;
  static constexpr size_t kHeaderBytes = 9;

  FrameAbuse BeginFrame(TimePoint now);
  void BeginCall(uint32_t stream, TimePoint now);
  FrameAbuse Reset(uint32_t stream, TimePoint now);
  void Age(TimePoint now);
  FrameAbuse AddToBlock(size_t length);
  uint32_t Number(size_t begin, size_t end) const;

  size_t max_block_;
  LeakyBucket resets_;
  LeakyBucket control_frames_;
  FrameAbuse abuse_ = FrameAbuse::kNone;
  uint64_t skip_ = kPrefaceBytes;  // bytes up to the next frame's header
  std::array<uint8_t, kHeaderBytes> header_ = {};
  size_t header_filled_ = 0;
  size_t block_ = 0;  // of the current header block, with the headers of its frames
  uint32_t last_stream_ = 0;
  TimePoint last_call_;
  uint32_t old_ = 0;     // streams up to this one are older than a second
  uint32_t marked_ = 0;  // streams up to this one existed at mark_
  TimePoint mark_;
  uint64_t calls_ = 0;
};

}  // namespace millrace::server
