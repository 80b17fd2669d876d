#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "mps_runtime/base/clock.h"
#include "server/http2/frame_reader.h"
#include "server/http2/frame_totals.h"
#include "server/http2/gradual_end.h"
#include "server/http2/header_meter.h"
#include "server/http2/message_bytes.h"
#include "server/http2/message_guard.h"
#include "server/sockets/leaky_bucket.h"

namespace millrace::server {

// The limits of what a client may send on one connection.
struct FrameLimits {
  size_t header_bytes = 32 << 10;  // the headers of one call, as sent
  int resets_per_second = 1000;
  int control_frames_per_second = 10'000;  // beyond those that calls and their data cause
  size_t streams = 1024;                   // open at once
  uint64_t message_bytes = 16 << 20;
  int64_t all_calls = 32'768;  // open at once, of which each address has its fair share
};

// The kinds of abuse, which no well-behaved client needs.
enum class FrameAbuse : uint8_t {
  kNone,
  kHeaders,  // are too long, expand to too much, or are malformed
  kResets,
  kControlFrames,
  kStreams,         // more are open than the server takes, of the connection or of its address
  kUnread,          // the server's answers to PING and SETTINGS frames are not read
  kMessages,        // take too much memory, in pieces that cannot be refused
  kUnacknowledged,  // the server's SETTINGS
  kProtocol,        // is another one, by mistake
  kErrors,          // for which gRPC has closed the connection
};
constexpr size_t kFrameAbuses = 10;
std::string_view ToString(FrameAbuse abuse);

// Reads the frames of a connection (RFC 9113) in both directions, and detects abuse that the
// transport does not bound: header blocks without end or that expand to far more than was sent,
// calls that are cancelled as they are made, more calls than may be open, floods of frames.
//
// Each frame draws on a budget of work, which is measured in control frames, by its bytes and
// whatever its type is. Only what is known to be cheap or bounded otherwise draws less: the headers
// of calls, whose number is bounded, and their data, which flow control bounds. Takes some tens of
// nanoseconds a frame. One thread at a time.
class FrameGuard {
 public:
  // totals: must outlive this object. address: those of the client's address.
  FrameGuard(const FrameLimits& limits, FrameTotals& totals, std::shared_ptr<ClientTotals> address);

  // Reads the next bytes from the client, in pieces of any size, beginning with the preface.
  // Overwrites messages that gRPC must not see. `now` must not decrease. Once it has found abuse,
  // it keeps returning that; see harmless_bytes().
  FrameAbuse Read(std::span<char> bytes, TimePoint now);
  // Reads the next bytes that were sent to the client.
  void ReadSent(std::span<const char> bytes);
  // Reads the end of the connection, which cancels the calls that are open. Returns kResets if they
  // are more than the client may cancel at once.
  FrameAbuse ReadEnd(TimePoint now);
  // Ends the connection, which is what makes room for others.
  void End(FrameAbuse abuse);
  // Gives back what the connection has of the totals, of which it takes nothing afterwards. Must be
  // called before the destructor; idempotent. The other limits still hold.
  void Leave();

  FrameAbuse abuse() const { return abuse_; }
  // Returns how many bytes of the last Read, which has found abuse, came before the frame at fault.
  size_t harmless_bytes() const { return harmless_bytes_; }
  // Returns what ends the open calls where gRPC has seen all bytes, but those that were not
  // harmless.
  GradualEnd EndGradually() const;
  // Returns the number of calls that the client has begun, by all of their headers: a connection
  // with parts of them gives way to others as one without a call does.
  uint64_t calls() const { return calls_; }
  // Returns what the bytes so far have cost the server, by rough estimates: nanoseconds. It depends
  // on what they ask for, but not on the work of models.
  uint64_t cost() const { return cost_; }
  // Returns the number of streams that the server has not ended, nor the client cancelled.
  size_t open_streams() const { return streams_.size(); }
  // Returns true if the client has acknowledged the server's SETTINGS.
  bool acknowledged() const { return acknowledged_; }
  // Returns true if the client speaks HTTP/2 and the server has not told it that the connection
  // will be closed for no fault of its own.
  bool closes_for_errors() const { return preface_left_.empty() && !takes_leave_; }
  // Returns true if a call was answered by a message.
  bool has_answered() const { return has_answered_; }
  // Returns the number of open streams in the totals.
  int64_t counted_calls() const { return counted_calls_; }
  // Returns true if the client has open calls and its address more of them than it may have.
  bool crowded() const;
  const std::shared_ptr<ClientTotals>& address() const { return address_; }
  // Returns when the server last answered a call, or when the oldest call began if that was later;
  // more exactly, when the client had last sent something then.
  TimePoint last_answer() const { return last_answer_; }
  // Returns since when the connection, which has begun a call, serves nobody: it has no open call,
  // or only such as a watch of the health, which was answered and says no more for now. Null while
  // a call waits for its answer, and where the client may just go on.
  std::optional<TimePoint> IdleSince(TimePoint now) const;

 private:
  static constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

  // The kinds of a frame's payload.
  enum class Payload : uint8_t { kPreface, kOther, kMessages, kHeaders };

  struct Stream {
    bool client_ended = false;
    bool answered = false;
    uint32_t header_bytes = 0;  // as expanded
    MessageGuard messages;
  };

  FrameAbuse ReadPreface(std::span<const char> bytes);
  FrameAbuse BeginFrame(const FrameHeader& frame, TimePoint now);
  void EndFrame(const FrameHeader& frame);
  FrameAbuse BeginData(const FrameHeader& frame, TimePoint now);
  FrameAbuse BeginHeaders(const FrameHeader& frame, TimePoint now);
  FrameAbuse BeginCall(const FrameHeader& frame, TimePoint now);
  FrameAbuse Reset(uint32_t stream, TimePoint now);
  void ReadData(std::span<char> bytes, TimePoint now);
  FrameAbuse ReadHeaders(std::span<const char> bytes, TimePoint now);
  void BeginSentFrame(const FrameHeader& frame);
  void ReadSentGoaway(const FrameHeader& frame, std::span<const char> payload);
  Stream* Find(uint32_t stream);
  void MarkAnswered(uint32_t stream);
  void EndStream(uint32_t stream);
  void CountCalls();
  void ForgetHarmful(const FrameReader& before);
  void Age(TimePoint now);
  FrameAbuse BeginBlock(const FrameHeader& frame);
  FrameAbuse AddToBlock(size_t length);
  FrameAbuse Draw(double work, TimePoint now);

  FrameLimits limits_;
  FrameTotals* totals_;
  std::shared_ptr<ClientTotals> address_;
  LeakyBucket resets_;
  LeakyBucket control_frames_;
  FrameAbuse abuse_ = FrameAbuse::kNone;
  FrameReader received_{kPreface.size()};
  std::string_view preface_left_ = kPreface;
  size_t harmless_bytes_ = 0;
  FrameHeader at_fault_;
  FrameReader sent_{0};
  std::unordered_map<uint32_t, Stream> streams_;
  size_t unanswered_ = 0;  // streams without an answer
  uint32_t found_ = 0;     // the stream that was found last; 0: none
  Stream* found_stream_ = nullptr;
  int64_t counted_calls_ = 0;  // in the totals
  MessageBytes messages_;
  Payload payload_ = Payload::kPreface;
  size_t block_ = 0;            // bytes of the current header block, with the headers of its frames
  bool block_of_call_ = false;  // the block begins a call
  uint32_t unfinished_block_ = 0;  // the stream whose block goes on in the next frame; 0: none
  uint32_t priority_left_ = 0;     // bytes of the current frame before its part of the block
  HeaderMeter headers_;
  uint64_t header_bytes_ = 0;  // for the open calls, as expanded
  int owed_ = 0;               // answers to PING and SETTINGS frames that were not sent
  bool acknowledged_ = false;
  bool has_answered_ = false;
  bool takes_leave_ = false;  // the server, by a GOAWAY frame without an error
  uint32_t last_stream_ = 0;
  TimePoint last_call_;
  TimePoint last_read_;
  TimePoint last_answer_;
  uint32_t old_ = 0;     // streams up to this one are older than a second
  uint32_t marked_ = 0;  // streams up to this one existed at mark_
  TimePoint mark_;
  uint64_t calls_ = 0;
  uint64_t cost_ = 0;
  bool left_ = false;  // the totals
};

}  // namespace millrace::server
