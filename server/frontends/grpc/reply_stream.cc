#include "server/frontends/grpc/reply_stream.h"

#include <utility>

#include "models/core/errors.h"
#include "server/frontends/grpc/call_metadata.h"
#include "server/frontends/grpc/message_codec.h"

namespace millrace::server {

void ReplyStream::Send(const google::protobuf::Message& message) {
  ByteBuffer buffer;
  if (!SerializeMessage(message, buffer).ok()) return;
  const size_t bytes = buffer.size();
  MutexLock lock(mu_);
  if (buffer_.over()) return;
  if (buffer_.empty()) last_progress_ = services().clock.Now();
  buffer_.Push(std::move(buffer), bytes);
  Advance();  // cannot be the end, which is not known yet
}

void ReplyStream::End(const absl::Status& status) {
  AddTrailers(status, run_, call_);
  std::optional<absl::Status> end;
  {
    MutexLock lock(mu_);
    end_ = status;
    // An error comes behind the message that is being written.
    buffer_.End(status);
    end = Advance();
  }
  if (end) call_.Finish(*end);
}

std::optional<absl::Status> ReplyStream::Advance() {
  if (writing_ || finished_) return std::nullopt;
  if (ByteBuffer* const next = buffer_.Front()) {
    writing_ = true;
    call_.StartWrite(next);
    return std::nullopt;
  }
  if (!end_) return std::nullopt;
  finished_ = true;
  return end_;
}

void ReplyStream::OnWriteDone(bool ok) {
  if (!ok) {
    run_.reply().Cancel();
    buffer_.Stop();
  }
  buffer_.Pop();  // nothing else is written meanwhile
  std::optional<absl::Status> end;
  {
    MutexLock lock(mu_);
    writing_ = false;
    last_progress_ = services().clock.Now();
    if (!ok) broken_ = true;
    end = Advance();
  }
  if (end) call_.Finish(*end);
}

TimePoint ReplyStream::waiting_since() const {
  MutexLock lock(mu_);
  return buffer_.empty() ? TimePoint::max() : last_progress_;
}

TimePoint ReplyStream::last_progress() const {
  MutexLock lock(mu_);
  return last_progress_;
}

void ReplyStream::Record() {
  absl::Status outcome;
  {
    MutexLock lock(mu_);
    // Without an end, the job threw before it could be queued.
    outcome = end_.value_or(Internal("the call could not begin"));
    // The work was done, but not all of it arrived. When a client that sends a stream leaves, the
    // end of its stream is reported first, which may have come too early.
    if ((outcome.ok() && (broken_ || run_.reply().cancelled())) ||
        (call_.cancelled() && (outcome.ok() || absl::IsInvalidArgument(outcome))))
      outcome = absl::CancelledError("the caller went away");
  }
  run_.Record(outcome, [this] { return RequesterOf(call_, services()); });
}

}  // namespace millrace::server
