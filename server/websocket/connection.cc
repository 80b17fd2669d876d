#include "server/websocket/connection.h"

#include <algorithm>
#include <utility>

#include "models/core/strings.h"

namespace millrace {
namespace {

// The most that waits for the client here; the rest waits in the session.
constexpr size_t kMaxUnsentBytes = size_t{64} << 10;

}  // namespace

WebSocketConnection::WebSocketConnection(std::unique_ptr<WebSocketSession> session,
                                         const Options& options, const Clock& clock)
    : options_(options),
      clock_(clock),
      frames_(options.limits),
      session_(std::move(session)),
      last_heard_(clock.Now()),
      last_progress_(last_heard_) {}

void WebSocketConnection::Receive(std::string_view bytes) {
  last_heard_ = clock_.Now();
  pinged_ = false;
  const bool nothing_waited = unsent().empty();
  frames_.Push(bytes, last_heard_);
  if (nothing_waited && !unsent().empty()) last_progress_ = last_heard_;
}

bool WebSocketConnection::wants_bytes() const {
  if (over_ || frames_.closed()) return false;
  // A client that closes must be read, so that it is seen to confirm that.
  if (frames_.closing()) return unsent().size() <= kMaxUnsentBytes;
  return !frames_.has_message() && unsent().size() <= kMaxUnsentBytes && session_->wants_message();
}

void WebSocketConnection::HandleMessages() {
  for (int handled = 0; has_more() && handled < kEventsOfShare; ++handled)
    session_->Receive(*frames_.Next());
  if (frames_.has_message() || session_->end()) return;
  switch (frames_.excess()) {
    case WebSocketFrames::Excess::kMessageBytes:
      return session_->Fail(WebSocketClose::kTooBig,
                            StrCat("a message has more than ", options_.limits.max_message_bytes,
                                   " bytes, which is the limit"));
    case WebSocketFrames::Excess::kFrames:
      return session_->Fail(WebSocketClose::kPolicyViolation,
                            StrCat("frames come faster than ", options_.limits.frames_per_second,
                                   " a second, which is the limit"));
    case WebSocketFrames::Excess::kNone:
      break;
  }
}

void WebSocketConnection::TakeOutput() {
  while (!frames_.closing() && unsent().size() <= kMaxUnsentBytes) {
    if (unsent().empty()) last_progress_ = clock_.Now();
    const std::optional<WebSocketMessage> message = session_->Take();
    if (message) {
      frames_.Send(*message);
      continue;
    }
    if (const auto& end = session_->end()) Close(end->code, end->reason);
    break;
  }
}

void WebSocketConnection::Advance() {
  if (over_) return;
  const TimePoint now = clock_.Now();
  if (frames_.closing()) {
    // The client closed, or violated the protocol: what the session has is not wanted any more.
    closing_since_ = std::min(closing_since_, now);
  } else {
    session_->Advance();
    HandleMessages();
    TakeOutput();
    if (!frames_.closing() && draining_ && session_->idle()) GoAway();
  }
  EndOverdue(now);
  if (frames_.closed() && unsent().empty()) over_ = true;
}

void WebSocketConnection::Sent(size_t bytes) {
  if (bytes == 0) return;
  frames_.Sent(bytes);
  last_progress_ = clock_.Now();
  if (unsent().empty()) session_->OnAllSent();
}

void WebSocketConnection::GoAway() {
  Close(WebSocketClose::kGoingAway, "the server is shutting down");
}

void WebSocketConnection::Close(WebSocketClose code, std::string_view reason) {
  if (unsent().empty()) last_progress_ = clock_.Now();
  closing_since_ = std::min(closing_since_, clock_.Now());
  frames_.Close(code, reason);
}

TimePoint WebSocketConnection::due() const {
  if (over_) return TimePoint::min();
  TimePoint due = TimePoint::max();
  if (!unsent().empty()) due = last_progress_ + options_.stall_timeout;
  if (frames_.closing()) {
    // The time to confirm begins when the client has the close.
    return unsent().empty()
               ? std::min(due, std::max(closing_since_, last_progress_) + options_.close_timeout)
               : due;
  }
  due = std::min(due, session_->due());
  // The client cannot be heard while it is not read.
  if (wants_bytes()) due = std::min(due, last_heard_ + options_.ping_interval * (pinged_ ? 2 : 1));
  return due;
}

void WebSocketConnection::EndOverdue(TimePoint now) {
  if (!unsent().empty() && now >= last_progress_ + options_.stall_timeout) {
    over_ = true;  // an error could not be sent either
  } else if (frames_.closing()) {
    if (now >= due()) over_ = true;
  } else if (!wants_bytes()) {
    last_heard_ = now;
    pinged_ = false;
  } else if (now >= last_heard_ + options_.ping_interval * 2) {
    over_ = true;
  } else if (!pinged_ && now >= last_heard_ + options_.ping_interval) {
    pinged_ = true;
    if (unsent().empty()) last_progress_ = now;
    frames_.Ping();
  }
}

}  // namespace millrace
