#include "server/http2/gradual_end.h"

#include <algorithm>
#include <utility>

namespace millrace::server {
namespace {

constexpr uint8_t kResetFrame = 3;
constexpr uint8_t kCancel = 8;  // an error code
constexpr uint32_t kResetBytes = 4;
// gRPC takes no longer frames, and breaks the connection at the header of one.
constexpr uint32_t kLongestFrame = 16 << 10;

std::string Encode(const FrameHeader& frame) {
  const auto byte = [](uint32_t number, int shift) { return static_cast<char>(number >> shift); };
  return {byte(frame.length, 16),        byte(frame.length, 8),          byte(frame.length, 0),
          static_cast<char>(frame.type), static_cast<char>(frame.flags), byte(frame.stream, 24),
          byte(frame.stream, 16),        byte(frame.stream, 8),          byte(frame.stream, 0)};
}

}  // namespace

GradualEnd::GradualEnd(const FrameReader& seen, const FrameHeader& at_fault,
                       std::vector<uint32_t> streams)
    : streams_(std::move(streams)) {
  // Frames can only follow whole ones. What completes one of them means nothing.
  uint32_t payload = seen.payload_left();
  if (const std::span<const uint8_t> begun = seen.begun_header(); !begun.empty()) {
    std::string header = Encode(at_fault);
    std::copy(begun.begin(), begun.end(), header.begin());
    next_ = header.substr(begun.size());
    payload = 0;
    for (size_t i = 0; i < 3; ++i) payload = payload << 8 | static_cast<uint8_t>(header[i]);
  }
  next_.append(std::min(payload, kLongestFrame), '\1');
}

size_t GradualEnd::Write(std::span<char> bytes) {
  if (next_.empty()) {
    for (size_t i = 0; i < kCallsAtOnce && !streams_.empty(); ++i, streams_.pop_back()) {
      next_ += Encode({.length = kResetBytes, .type = kResetFrame, .stream = streams_.back()});
      next_ += {0, 0, 0, kCancel};
    }
  }
  const size_t size = std::min(bytes.size(), next_.size());
  std::copy_n(next_.begin(), size, bytes.begin());
  next_.erase(0, size);
  return size;
}

}  // namespace millrace::server
