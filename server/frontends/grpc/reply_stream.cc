#include "server/frontends/grpc/reply_stream.h"

#include <utility>

#include "server/frontends/grpc/call_metadata.h"
#include "server/frontends/grpc/message_codec.h"

namespace millrace::server {

void ReplyStream::Send(const google::protobuf::Message& message) {
  ByteBuffer buffer;
  const absl::Status status = SerializeMessage(message, buffer);
  MutexLock lock(mu_);
  if (broken_ || end_ || !status.ok()) return;
  if (pending_.empty()) last_progress_ = services().clock.Now();
  pending_bytes_ += buffer.size();
  pending_.push_back(std::move(buffer));
  Advance();  // cannot be the end, which is not known yet
}

void ReplyStream::End(const absl::Status& status) {
  AddTrailers(status, run_, call_);
  std::optional<absl::Status> end;
  {
    MutexLock lock(mu_);
    end_ = status;
    // An error does not wait behind audio that the client has not taken; what was written already
    // still arrives.
    if (!status.ok() && !pending_.empty())
      pending_.erase(pending_.begin() + (writing_ ? 1 : 0), pending_.end());
    end = Advance();
  }
  if (end) call_.Finish(*end);
}

std::optional<absl::Status> ReplyStream::Advance() {
  if (writing_ || finished_) return std::nullopt;
  if (!pending_.empty()) {
    writing_ = true;
    // The reference stays valid: a deque moves nothing when its end grows, and only OnWriteDone
    // pops.
    call_.StartWrite(&pending_.front());
    return std::nullopt;
  }
  if (!end_) return std::nullopt;
  finished_ = true;
  return end_;
}

void ReplyStream::OnWriteDone(bool ok) {
  std::optional<absl::Status> end;
  std::unique_ptr<Job> resumed;
  {
    MutexLock lock(mu_);
    writing_ = false;
    last_progress_ = services().clock.Now();
    pending_bytes_ -= pending_.front().size();
    pending_.pop_front();
    if (!ok) {
      broken_ = true;
      pending_.clear();
      pending_bytes_ = 0;
    }
    end = Advance();
    // The buffer must be half empty before the next step (hysteresis), or a step would follow every
    // message.
    if (parked_ != nullptr && pending_bytes_ <= services().max_buffered_bytes / 2)
      resumed = std::move(parked_);
  }
  if (!ok) run_.reply().Cancel();
  if (end) call_.Finish(*end);
  if (resumed != nullptr) services().scheduler.Requeue(std::move(resumed));
}

bool ReplyStream::Congested() const {
  MutexLock lock(mu_);
  return pending_bytes_ > services().max_buffered_bytes;
}

void ReplyStream::Park(std::unique_ptr<Job> job) {
  {
    MutexLock lock(mu_);
    // The client may have caught up or left since Congested was called; then no OnWriteDone would
    // resume the job.
    if (writing_ && !broken_ && !run_.reply().cancelled()) {
      parked_ = std::move(job);
      return;
    }
  }
  services().scheduler.Requeue(std::move(job));
}

TimePoint ReplyStream::waiting_since() const {
  MutexLock lock(mu_);
  return pending_.empty() ? TimePoint::max() : last_progress_;
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
    outcome = end_.value_or(absl::InternalError("the call could not begin"));
    // The work was done, but not all of it arrived. When a client that sends a stream leaves, the
    // end of its stream is reported first, which may have come too early.
    if ((outcome.ok() && (broken_ || run_.reply().cancelled())) ||
        (call_.cancelled() && (outcome.ok() || absl::IsInvalidArgument(outcome))))
      outcome = absl::CancelledError("the caller went away");
  }
  run_.Record(outcome, [this] { return RequesterOf(call_, services()); });
}

void ReplyStream::DropParked() {
  std::unique_ptr<Job> parked;
  {
    MutexLock lock(mu_);
    parked = std::move(parked_);
  }
  if (parked != nullptr) {
    const absl::Status why = StopStatus(parked->request);
    FinishJob(std::move(parked), why);
  }
}

}  // namespace millrace::server
