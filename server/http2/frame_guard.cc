#include "server/http2/frame_guard.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>
#include <vector>

namespace millrace::server {
namespace {

// Frame types and flags of RFC 9113, section 6.
constexpr uint8_t kData = 0;
constexpr uint8_t kHeaders = 1;
constexpr uint8_t kRstStream = 3;
constexpr uint8_t kSettings = 4;
constexpr uint8_t kPing = 6;
constexpr uint8_t kGoaway = 7;
constexpr uint8_t kWindowUpdate = 8;
constexpr uint8_t kContinuation = 9;
constexpr uint8_t kAck = 0x1;  // a flag of SETTINGS and PING
constexpr uint8_t kEndStream = 0x1;
constexpr uint8_t kEndHeaders = 0x4;
constexpr uint8_t kPadded = 0x8;
constexpr uint8_t kPriority = 0x20;
constexpr uint32_t kPriorityBytes = 5;

// A burst may have what the rate allows in a quarter of a second. A client that cancels all its
// calls is no flood, and some hundred resets cost the server only milliseconds.
constexpr double kBurstSeconds = 0.25;

// Clients answer each reply and each of its pieces with WINDOW_UPDATE frames for the stream and for
// the connection, and measure the bandwidth with PING frames; gRPC's clients send about two a call.
constexpr double kControlFramesOfCall = 4;
constexpr double kControlFramesOfData = 1;
constexpr double kControlFramesOfReply = 2;
// Shorter frames of a reply come of windows of a few bytes, each of which is a WINDOW_UPDATE frame.
constexpr uint32_t kShortReply = 32;

// So many bytes cost as much as a frame: those that gRPC interprets, and the data of a stream that
// has ended, of which a client may have sent a window before it learns of the end.
constexpr uint32_t kBytesOfWork = 256;
constexpr uint32_t kSkippedBytesOfWork = 4096;
// Frames with less data cost more than their bytes, as does each message.
constexpr uint32_t kSmallData = 256;
constexpr double kSmallDataWork = 0.125;
// Fields of headers cost time and some 300 bytes each, however few bytes name them. Calls have
// fewer.
constexpr uint64_t kFieldsOfCall = 32;
constexpr double kFieldWork = 0.125;

// The fields of a block may expand to so many times the bytes that may be sent, since each counts
// as 32 more than its strings, and Huffman codes as the most that they can stand for.
constexpr uint64_t kExpansion = 2;
// The open calls of a connection may have so many bytes of expanded headers each, on average. gRPC
// keeps them until the call ends.
constexpr uint64_t kHeaderBytesOfCall = 4096;

// Clients take the answers to their PING and SETTINGS frames, which wait in memory until then.
constexpr int kMostOwed = 1000;

// An answer is seldom shorter than such a part of what it answers. Of longer questions, a
// WINDOW_UPDATE frame tells that they were read.
constexpr uint64_t kQuestionOfAnswer = 8;

// Most of what gRPC and the server take for a call.
constexpr uint64_t kCallBytes = 16 << 10;

// Rough costs of what the server reads, in nanoseconds.
constexpr uint64_t kCostOfByte = 2;
constexpr uint64_t kCostOfField = 300;
constexpr uint64_t kCostOfFrame = 1'000;
constexpr uint64_t kCostOfMessage = 10'000;
constexpr uint64_t kCostOfCall = 30'000;

constexpr Duration kYoung = std::chrono::seconds(1);

// A client may go on with the next call so soon after the last one.
constexpr Duration kPause = std::chrono::seconds(1);
// A stream of answers that goes on is seldom silent for so long.
constexpr Duration kSilence = std::chrono::seconds(20);

uint32_t Units(uint32_t bytes, uint32_t bytes_of_unit) { return bytes / bytes_of_unit; }

LeakyBucket PerSecond(int count) {
  return LeakyBucket(count, std::max(count * kBurstSeconds, 1.0));
}

}  // namespace

std::string_view ToString(FrameAbuse abuse) {
  static constexpr std::array<std::string_view, kFrameAbuses> kNames = {
      "none",   "headers",  "resets",         "control_frames", "streams",
      "unread", "messages", "unacknowledged", "protocol",       "errors"};
  return kNames[static_cast<size_t>(abuse)];
}

FrameGuard::FrameGuard(const FrameLimits& limits, FrameTotals& totals,
                       std::shared_ptr<ClientTotals> address)
    : limits_(limits),
      totals_(&totals),
      address_(std::move(address)),
      resets_(PerSecond(limits.resets_per_second)),
      control_frames_(PerSecond(limits.control_frames_per_second)),
      messages_(limits.message_bytes, totals, address_) {}

FrameAbuse FrameGuard::Read(std::span<char> bytes, TimePoint now) {
  harmless_bytes_ = 0;
  if (abuse_ != FrameAbuse::kNone) return abuse_;
  const FrameReader before = received_;
  last_read_ = now;
  cost_ += kCostOfByte * bytes.size();
  received_.Read(
      bytes,
      [&](const FrameHeader& frame) {
        abuse_ = BeginFrame(frame, now);
        if (frame.length == 0) EndFrame(frame);
        return abuse_ == FrameAbuse::kNone;
      },
      [&](const FrameHeader& frame, std::span<char> payload) {
        if (payload_ == Payload::kMessages) ReadData(payload, now);
        if (payload_ == Payload::kHeaders) abuse_ = ReadHeaders(payload, now);
        if (payload_ == Payload::kPreface) abuse_ = ReadPreface(payload);
        if (received_.payload_left() == 0) EndFrame(frame);
        return abuse_ == FrameAbuse::kNone;
      });
  if (abuse_ != FrameAbuse::kNone) ForgetHarmful(before);
  CountCalls();
  return abuse_;
}

// Goes back to the beginning of the frame at fault, or of what was read of it this time.
void FrameGuard::ForgetHarmful(const FrameReader& before) {
  harmless_bytes_ = received_.frame_start();
  at_fault_ = received_.frame();
  received_ = harmless_bytes_ != 0 ? FrameReader(0) : before;
}

GradualEnd FrameGuard::EndGradually() const {
  std::vector<uint32_t> streams;
  streams.reserve(streams_.size());
  for (const auto& [stream, state] : streams_) streams.push_back(stream);
  return GradualEnd(received_, at_fault_, std::move(streams));
}

FrameAbuse FrameGuard::ReadPreface(std::span<const char> bytes) {
  const std::string_view expected = preface_left_.substr(0, bytes.size());
  preface_left_.remove_prefix(expected.size());
  return std::ranges::equal(bytes, expected) ? FrameAbuse::kNone : FrameAbuse::kProtocol;
}

FrameAbuse FrameGuard::BeginFrame(const FrameHeader& frame, TimePoint now) {
  payload_ = Payload::kOther;
  cost_ += kCostOfFrame;
  // gRPC closes a connection whose header blocks are torn, and its client would be back at once.
  const bool goes_on = frame.type == kContinuation && frame.stream == unfinished_block_;
  if (unfinished_block_ != 0 ? !goes_on : frame.type == kContinuation) return FrameAbuse::kHeaders;
  if (frame.type == kHeaders || goes_on)
    unfinished_block_ = (frame.flags & kEndHeaders) != 0 ? 0 : frame.stream;
  switch (frame.type) {
    case kData:
      return BeginData(frame, now);
    case kHeaders:
      return BeginHeaders(frame, now);
    case kContinuation:
      if (const FrameAbuse abuse = AddToBlock(frame.length); abuse != FrameAbuse::kNone)
        return abuse;
      payload_ = Payload::kHeaders;
      break;
    case kRstStream:
      return Reset(frame.stream, now);
    case kSettings:
      if ((frame.flags & kAck) != 0) acknowledged_ = true;
      [[fallthrough]];
    case kPing:
      if ((frame.flags & kAck) == 0 && ++owed_ > kMostOwed) return FrameAbuse::kUnread;
      break;
    default:
      break;
  }
  return Draw(1 + Units(frame.length, kBytesOfWork), now);
}

void FrameGuard::EndFrame(const FrameHeader& frame) {
  if (payload_ == Payload::kHeaders && (frame.flags & kEndHeaders) != 0 &&
      std::exchange(block_of_call_, false)) {
    ++calls_;
  }
}

FrameAbuse FrameGuard::BeginData(const FrameHeader& frame, TimePoint now) {
  Stream* const stream = Find(frame.stream);
  // gRPC ends the stream of a padded frame, which its clients do not send.
  if (stream == nullptr || stream->client_ended || (frame.flags & kPadded) != 0)
    return Draw(1 + Units(frame.length, kSkippedBytesOfWork), now);
  payload_ = Payload::kMessages;
  const bool ends = (frame.flags & kEndStream) != 0;
  stream->client_ended = ends;
  if (frame.length == 0 && !ends) return Draw(1, now);
  if (frame.length < kSmallData && !ends) return Draw(kSmallDataWork, now);
  control_frames_.Drain(kControlFramesOfData);
  return FrameAbuse::kNone;
}

FrameAbuse FrameGuard::BeginHeaders(const FrameHeader& frame, TimePoint now) {
  if (const FrameAbuse abuse = BeginBlock(frame); abuse != FrameAbuse::kNone) return abuse;
  // Clients open streams of odd and growing numbers.
  if (frame.stream % 2 == 1 && frame.stream > last_stream_) return BeginCall(frame, now);
  if (Stream* const stream = Find(frame.stream);
      stream != nullptr && (frame.flags & kEndStream) != 0) {
    stream->client_ended = true;
  }
  return Draw(1 + Units(frame.length, kBytesOfWork), now);
}

FrameAbuse FrameGuard::BeginCall(const FrameHeader& frame, TimePoint now) {
  Age(now);
  last_stream_ = frame.stream;
  last_call_ = now;
  block_of_call_ = true;
  cost_ += kCostOfCall;
  // gRPC holds the client to the limit only once that has acknowledged it.
  if (streams_.size() >= limits_.streams) return FrameAbuse::kStreams;
  if (streams_.empty()) last_answer_ = now;
  found_stream_ = &streams_[frame.stream];
  ++unanswered_;
  found_ = frame.stream;
  found_stream_->client_ended = (frame.flags & kEndStream) != 0;
  if (!messages_.Charge(kCallBytes, MessageBytes::Shared::kAll)) return FrameAbuse::kMessages;
  control_frames_.Drain(kControlFramesOfCall);
  return Draw(Units(frame.length, kBytesOfWork), now);
}

void FrameGuard::ReadData(std::span<char> bytes, TimePoint now) {
  Stream* const stream = Find(received_.frame().stream);
  if (stream == nullptr) return;  // it has been ended meanwhile
  const int begun = stream->messages.Read(bytes, messages_);
  if (begun < 0) {
    abuse_ = FrameAbuse::kMessages;
    return;
  }
  cost_ += kCostOfMessage * static_cast<uint64_t>(begun);
  if (begun > 1) abuse_ = Draw((begun - 1) * kSmallDataWork, now);
}

FrameAbuse FrameGuard::ReadHeaders(std::span<const char> bytes, TimePoint now) {
  const uint32_t skipped = static_cast<uint32_t>(std::min<size_t>(priority_left_, bytes.size()));
  priority_left_ -= skipped;
  const uint64_t fields = headers_.fields();
  const uint64_t size = headers_.size();
  if (!headers_.Read(bytes.subspan(skipped))) return FrameAbuse::kHeaders;
  if (headers_.size() > kExpansion * limits_.header_bytes) return FrameAbuse::kHeaders;
  if (Stream* const stream = Find(received_.frame().stream); stream != nullptr) {
    const uint64_t more = headers_.size() - size;
    stream->header_bytes += static_cast<uint32_t>(more);
    header_bytes_ += more;
    if (header_bytes_ >
        std::max<uint64_t>(kHeaderBytesOfCall * limits_.streams, kExpansion * limits_.header_bytes))
      return FrameAbuse::kHeaders;
  }
  cost_ += kCostOfField * (headers_.fields() - std::min(fields, headers_.fields()));
  const uint64_t many =
      std::max(headers_.fields(), kFieldsOfCall) - std::max(fields, kFieldsOfCall);
  return many == 0 ? FrameAbuse::kNone : Draw(static_cast<double>(many) * kFieldWork, now);
}

FrameAbuse FrameGuard::Reset(uint32_t stream, TimePoint now) {
  Age(now);
  if (Find(stream) != nullptr) cost_ += kCostOfCall;
  EndStream(stream);
  // A client may cancel at once all calls that have run for a while, because they are few.
  if (stream <= old_) return Draw(1, now);
  return resets_.Add(now) ? FrameAbuse::kNone : FrameAbuse::kResets;
}

void FrameGuard::ReadSent(std::span<const char> bytes) {
  sent_.Read(
      bytes,
      [&](const FrameHeader& frame) {
        BeginSentFrame(frame);
        return true;
      },
      [&](const FrameHeader& frame, std::span<const char> payload) {
        if (frame.type == kGoaway) ReadSentGoaway(frame, payload);
        return true;
      });
  CountCalls();
}

// Its error code follows the number of a stream.
void FrameGuard::ReadSentGoaway(const FrameHeader& frame, std::span<const char> payload) {
  constexpr size_t kBegin = 4;
  constexpr size_t kEnd = 8;
  size_t at = frame.length - sent_.payload_left() - payload.size();
  if (at == 0) takes_leave_ = true;
  for (const char byte : payload) {
    if (at >= kBegin && at < kEnd && byte != 0) takes_leave_ = false;
    ++at;
  }
}

void FrameGuard::BeginSentFrame(const FrameHeader& frame) {
  switch (frame.type) {
    case kData:
      control_frames_.Drain(kControlFramesOfReply * std::min(frame.length, kShortReply) /
                            kShortReply);
      last_answer_ = last_read_;
      has_answered_ = true;
      if (Stream* const stream = Find(frame.stream); stream != nullptr)
        stream->messages.OnRead(kQuestionOfAnswer * frame.length, messages_);
      [[fallthrough]];
    case kHeaders:
      MarkAnswered(frame.stream);
      // gRPC resets a stream that it ends before the client does.
      if ((frame.flags & kEndStream) != 0) EndStream(frame.stream);
      break;
    case kRstStream:
      EndStream(frame.stream);
      break;
    case kWindowUpdate:
      if (Stream* const stream = Find(frame.stream); stream != nullptr)
        stream->messages.OnRead(std::numeric_limits<uint64_t>::max(), messages_);
      break;
    case kSettings:
    case kPing:
      if ((frame.flags & kAck) != 0) owed_ = std::max(owed_ - 1, 0);
      break;
    default:
      break;
  }
}

FrameAbuse FrameGuard::ReadEnd(TimePoint now) {
  Age(now);
  const auto young = std::count_if(streams_.begin(), streams_.end(),
                                   [&](const auto& stream) { return stream.first > old_; });
  return resets_.Add(now, static_cast<double>(young)) ? FrameAbuse::kNone : FrameAbuse::kResets;
}

void FrameGuard::End(FrameAbuse abuse) {
  abuse_ = abuse;
  Leave();
}

void FrameGuard::Leave() {
  if (std::exchange(left_, true)) return;
  totals_->calls.fetch_sub(counted_calls_, std::memory_order_relaxed);
  address_->calls.fetch_sub(counted_calls_, std::memory_order_relaxed);
  counted_calls_ = 0;
  messages_.Leave();
}

std::optional<TimePoint> FrameGuard::IdleSince(TimePoint now) const {
  if (unanswered_ != 0) return std::nullopt;
  const TimePoint since = std::max(last_answer_, last_call_);
  if (now - since < (streams_.empty() ? kPause : kSilence)) return std::nullopt;
  return since;
}

bool FrameGuard::crowded() const {
  return !left_ && counted_calls_ != 0 && IsCrowded(*address_, *totals_, limits_.all_calls);
}

// The frames of a call come one after the other, mostly.
FrameGuard::Stream* FrameGuard::Find(uint32_t stream) {
  if (stream == found_) return found_stream_;
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return nullptr;
  found_ = stream;
  found_stream_ = &found->second;
  return found_stream_;
}

void FrameGuard::MarkAnswered(uint32_t stream) {
  Stream* const answered = Find(stream);
  if (answered != nullptr && !std::exchange(answered->answered, true)) --unanswered_;
}

void FrameGuard::EndStream(uint32_t stream) {
  Stream* const ended = Find(stream);
  if (ended == nullptr) return;
  if (!ended->answered) --unanswered_;
  ended->messages.End(messages_);
  messages_.GiveBack(kCallBytes);
  header_bytes_ -= ended->header_bytes;
  streams_.erase(stream);
  found_ = 0;
  found_stream_ = nullptr;
}

// Counts in the totals what has begun and ended since the last time. Abuse ends all calls.
void FrameGuard::CountCalls() {
  const int64_t open = abuse_ == FrameAbuse::kNone ? static_cast<int64_t>(streams_.size()) : 0;
  if (left_ || open == counted_calls_) return;
  totals_->calls.fetch_add(open - counted_calls_, std::memory_order_relaxed);
  address_->calls.fetch_add(open - counted_calls_, std::memory_order_relaxed);
  counted_calls_ = open;
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

FrameAbuse FrameGuard::BeginBlock(const FrameHeader& frame) {
  block_ = 0;
  block_of_call_ = false;
  if (!headers_.BeginBlock()) return FrameAbuse::kHeaders;
  // gRPC takes padding for fields.
  if ((frame.flags & kPadded) != 0) return FrameAbuse::kHeaders;
  priority_left_ = (frame.flags & kPriority) != 0 ? kPriorityBytes : 0;
  if (frame.length < priority_left_) return FrameAbuse::kHeaders;
  payload_ = Payload::kHeaders;
  return AddToBlock(frame.length);
}

// Counts the frame's own header too, so that frames without payload are bounded.
FrameAbuse FrameGuard::AddToBlock(size_t length) {
  block_ += FrameHeader::kBytes + length;
  return block_ <= limits_.header_bytes ? FrameAbuse::kNone : FrameAbuse::kHeaders;
}

FrameAbuse FrameGuard::Draw(double work, TimePoint now) {
  return control_frames_.Add(now, work) ? FrameAbuse::kNone : FrameAbuse::kControlFrames;
}

}  // namespace millrace::server
