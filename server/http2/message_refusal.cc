#include "server/http2/message_refusal.h"

#include <algorithm>
#include <random>

namespace millrace::server {
namespace {

constexpr size_t kMarkBytes = 16;
using Mark = std::array<uint8_t, kMarkBytes>;
static_assert(MessageRefusal::kBytes == kMarkBytes + 1 + sizeof(uint32_t));

const Mark& ProcessMark() {
  static const Mark mark = [] {
    std::random_device random;
    Mark bytes;
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<uint8_t>(random()); });
    return bytes;
  }();
  return mark;
}

}  // namespace

MessageRefusal::Bytes MessageRefusal::Encode() const {
  Bytes bytes;
  std::copy(ProcessMark().begin(), ProcessMark().end(), bytes.begin());
  bytes[kMarkBytes] = static_cast<uint8_t>(reason);
  for (size_t i = 0; i < sizeof(size); ++i)
    bytes[kMarkBytes + 1 + i] = static_cast<uint8_t>(size >> 8 * i);
  return bytes;
}

std::optional<MessageRefusal> MessageRefusal::Decode(std::span<const uint8_t, kBytes> bytes) {
  if (!std::equal(ProcessMark().begin(), ProcessMark().end(), bytes.begin())) return std::nullopt;
  MessageRefusal refusal{.reason = static_cast<Reason>(bytes[kMarkBytes])};
  for (size_t i = 0; i < sizeof(size); ++i)
    refusal.size |= static_cast<uint32_t>(bytes[kMarkBytes + 1 + i]) << 8 * i;
  return refusal;
}

}  // namespace millrace::server
