#include "server/services/stream_call.h"

#include <utility>

#include "server/services/message_codec.h"

namespace millrace::server {

template <class Reactor>
void BasicStreamCall<Reactor>::Send(const google::protobuf::Message& message) {
  grpc::ByteBuffer buffer;
  const absl::Status status = SerializeMessage(message, buffer);
  Next next = Next::kNothing;
  {
    MutexLock lock(mu_);
    if (broken_ || end_ || !status.ok()) return;
    if (pending_.empty()) last_progress_ = services().clock.Now();
    pending_bytes_ += buffer.Length();
    pending_.push_back(std::move(buffer));
    next = Advance();
  }
  Do(next);
}

template <class Reactor>
void BasicStreamCall<Reactor>::Finish(const absl::Status& result) {
  const absl::Status status = Outcome(result);
  const grpc::Status end = AddTrailers(status);
  Next next = Next::kNothing;
  {
    MutexLock lock(mu_);
    end_ = end;
    outcome_ = status;
    // An error need not wait behind audio that the client has not taken; what is written already
    // still arrives.
    if (!status.ok() && !pending_.empty())
      pending_.erase(pending_.begin() + (writing_ ? 1 : 0), pending_.end());
    next = Advance();
  }
  Do(next);
}

template <class Reactor>
typename BasicStreamCall<Reactor>::Next BasicStreamCall<Reactor>::Advance() {
  if (writing_ || finished_) return Next::kNothing;
  if (!pending_.empty()) {
    writing_ = true;
    return Next::kWrite;
  }
  if (end_) {
    finished_ = true;
    return Next::kFinish;
  }
  return Next::kNothing;
}

template <class Reactor>
void BasicStreamCall<Reactor>::Do(Next next) {
  switch (next) {
    case Next::kNothing:
      return;
    case Next::kWrite: {
      const grpc::ByteBuffer* buffer = nullptr;
      {
        MutexLock lock(mu_);
        buffer = &pending_.front();  // stays put: a deque moves nothing when its end grows, and
                                     // only OnWriteDone pops
      }
      this->StartWrite(buffer);
      return;
    }
    case Next::kFinish: {
      grpc::Status end;
      {
        MutexLock lock(mu_);
        end = *end_;
      }
      Reactor::Finish(end);
      return;
    }
  }
}

template <class Reactor>
void BasicStreamCall<Reactor>::OnWriteDone(bool ok) {
  Next next = Next::kNothing;
  std::unique_ptr<Job> resumed;
  {
    MutexLock lock(mu_);
    writing_ = false;
    last_progress_ = services().clock.Now();
    pending_bytes_ -= pending_.front().Length();
    pending_.pop_front();
    if (!ok) {
      broken_ = true;
      pending_.clear();
      pending_bytes_ = 0;
    }
    next = Advance();
    // Hysteresis: half empty before the next step, or a step would follow every message.
    if (parked_ != nullptr && pending_bytes_ <= services().max_buffered_bytes / 2)
      resumed = std::move(parked_);
  }
  if (!ok) Cancel();
  // Once the job is back in its queue, its end may end this call.
  Scheduler& scheduler = services().scheduler;
  Do(next);
  if (resumed != nullptr) scheduler.Requeue(std::move(resumed));
}

template <class Reactor>
bool BasicStreamCall<Reactor>::Congested() const {
  MutexLock lock(mu_);
  return pending_bytes_ > services().max_buffered_bytes;
}

template <class Reactor>
void BasicStreamCall<Reactor>::Park(std::unique_ptr<Job> job) {
  Scheduler& scheduler = services().scheduler;
  {
    MutexLock lock(mu_);
    // The client may have caught up, or left, since Congested was asked; then no OnWriteDone would
    // wake the job.
    if (writing_ && !broken_ && !cancelled()) parked_ = std::move(job);
  }
  if (job != nullptr) scheduler.Requeue(std::move(job));
}

template <class Reactor>
TimePoint BasicStreamCall<Reactor>::waiting_since() const {
  MutexLock lock(mu_);
  return pending_.empty() ? TimePoint::max() : last_progress_;
}

template <class Reactor>
TimePoint BasicStreamCall<Reactor>::last_progress() const {
  MutexLock lock(mu_);
  return last_progress_;
}

template <class Reactor>
void BasicStreamCall<Reactor>::OnDone() {
  services().streams.Remove(*this);
  absl::Status outcome;
  {
    MutexLock lock(mu_);
    outcome = outcome_;
    // The work was done, but not all of it arrived.
    if (outcome.ok() && (broken_ || cancelled()))
      outcome = absl::CancelledError("the caller went away");
  }
  Record(outcome);
  delete this;
}

template <class Reactor>
void BasicStreamCall<Reactor>::OnCancel() {
  CancelWork();
  DropParked();
}

template <class Reactor>
void BasicStreamCall<Reactor>::DropParked() {
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

template class BasicStreamCall<grpc::ServerWriteReactor<grpc::ByteBuffer>>;
template class BasicStreamCall<grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>>;

}  // namespace millrace::server
