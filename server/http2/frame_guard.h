#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "mps_runtime/base/clock.h"
#include "server/http2/leaky_bucket.h"

namespace millrace::server {

// What a client may send on one connection.
struct FrameLimits {
  size_t header_bytes = 32 << 10;  // of one call's headers as they come over the wire
  int resets_per_second = 1000;
  int control_frames_per_second = 10'000;  // beyond those that calls and their data bring along
};

// What a client did that no client needs to do.
enum class FrameAbuse : uint8_t { kNone, kHeaders, kResets, kControlFrames };
std::string_view ToString(FrameAbuse abuse);

// Reads the headers of HTTP/2 frames (RFC 9113) as a client sends them and says when it abuses
// what the transport behind it does not bound: header blocks without end, calls that are cancelled
// as they are made, floods of frames that carry nothing. Keeps no payload and allocates nothing;
// some nanoseconds a frame. For one thread at a time.
class FrameGuard {
 public:
  explicit FrameGuard(const FrameLimits& limits);

  // The next bytes of the connection, in pieces of any size, from the preface on; `now` may not go
  // back. Once it has found abuse it stays with that.
  FrameAbuse Read(std::span<const char> bytes, TimePoint now);

  FrameAbuse abuse() const { return abuse_; }
  // Calls that the client has begun.
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
  size_t block_ = 0;  // of the header block under way, the headers of its frames included
  uint32_t last_stream_ = 0;
  TimePoint last_call_;
  uint32_t old_ = 0;     // streams up to this have been there for a while,
  uint32_t marked_ = 0;  // those up to this since
  TimePoint mark_;
  uint64_t calls_ = 0;
};

}  // namespace millrace::server
