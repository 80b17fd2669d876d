#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "mps_runtime/base/mutex.h"
#include "server/scheduling/job.h"
#include "server/scheduling/scheduler.h"

namespace millrace::server {

// The pieces of a reply that wait for a client that takes them more slowly than they are made. When
// too many bytes wait, the job is parked until the client has caught up, so that a slow reader
// holds neither memory nor a worker.
//
// The worker that has the job adds pieces, and one thread takes them. Thread-safe. No function
// calls the scheduler or a reply under the lock.
template <typename Piece>
class ReplyBuffer {
 public:
  // scheduler: must outlive this. A reply is congested above max_bytes.
  ReplyBuffer(Scheduler& scheduler, size_t max_bytes)
      : scheduler_(scheduler), max_bytes_(max_bytes) {}
  ReplyBuffer(const ReplyBuffer&) = delete;
  ReplyBuffer& operator=(const ReplyBuffer&) = delete;

  // Adds a piece of so many bytes, unless nobody takes it any more.
  void Push(Piece piece, size_t bytes) MILLRACE_EXCLUDES(mu_) {
    {
      MutexLock lock(mu_);
      if (stopped_ || end_) return;
      waiting_.push_back({std::move(piece), bytes});
      bytes_ += bytes;
    }
    changed_.NotifyAll();
  }
  // Records the end, which comes after the pieces. An error discards those that wait.
  void End(const absl::Status& status) MILLRACE_EXCLUDES(mu_) {
    {
      MutexLock lock(mu_);
      end_ = status;
      if (!status.ok()) Discard();
    }
    changed_.NotifyAll();
  }
  // These implement the Reply's functions of the same names.
  bool Congested() const MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return bytes_ > max_bytes_;
  }
  void Park(std::unique_ptr<Job> job) MILLRACE_EXCLUDES(mu_) {
    {
      MutexLock lock(mu_);
      // The client may have caught up or left since Congested was called. Nothing would resume the
      // job then.
      if (!CaughtUp() && !stopped_) {
        parked_ = std::move(job);
        return;
      }
    }
    scheduler_.Requeue(std::move(job));
  }

  // Returns the first piece; null without one. It stays where it is until Pop, even if the others
  // are discarded.
  Piece* Front() MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    front_in_use_ = !waiting_.empty();
    return front_in_use_ ? &waiting_.front().piece : nullptr;
  }
  // Takes the first piece, and resumes the job if the client has caught up.
  std::optional<Piece> Pop() MILLRACE_EXCLUDES(mu_) {
    std::optional<Piece> piece;
    std::unique_ptr<Job> resumed;
    {
      MutexLock lock(mu_);
      if (!waiting_.empty()) {
        piece = std::move(waiting_.front().piece);
        bytes_ -= waiting_.front().bytes;
        waiting_.pop_front();
        front_in_use_ = false;
      }
      if (parked_ != nullptr && CaughtUp()) resumed = std::move(parked_);
    }
    if (resumed != nullptr) scheduler_.Requeue(std::move(resumed));
    return piece;
  }
  // Waits until there is a piece or the end, or the time has come.
  void WaitUntil(std::chrono::steady_clock::time_point time) MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    while (waiting_.empty() && !end_ && changed_.WaitUntil(mu_, time)) {
    }
  }
  // Records that the client received the end.
  void SetDelivered() MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    delivered_ = true;
  }

  // Declares that nobody takes pieces any more: discards those that wait, and ends the parked job.
  // The work must have been cancelled before. Any thread.
  void Stop() MILLRACE_EXCLUDES(mu_) {
    std::unique_ptr<Job> parked;
    {
      MutexLock lock(mu_);
      stopped_ = true;
      Discard();
      parked = std::move(parked_);
    }
    if (parked != nullptr) {
      const absl::Status why = StopStatus(parked->request);
      FinishJob(std::move(parked), why);
    }
  }

  bool empty() const MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return waiting_.empty();
  }
  // Returns the end once all pieces are taken.
  std::optional<absl::Status> end() const MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return waiting_.empty() ? end_ : std::nullopt;
  }
  // Returns true after End or Stop.
  bool over() const MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return stopped_ || end_;
  }
  // Returns how the request ended for its client, at the end of the reply's life.
  absl::Status Outcome() const MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    // Without delivery, the work was done but not all of it arrived.
    return end_ && (!end_->ok() || delivered_) ? *end_
                                               : absl::CancelledError("the caller went away");
  }

 private:
  struct Waiting {
    Piece piece;
    size_t bytes;
  };

  // Half of the bytes must be gone before the next step (hysteresis), or a step would follow every
  // piece.
  bool CaughtUp() const MILLRACE_REQUIRES(mu_) { return bytes_ <= max_bytes_ / 2; }
  void Discard() MILLRACE_REQUIRES(mu_) {
    const size_t kept = front_in_use_ ? 1 : 0;
    while (waiting_.size() > kept) {
      bytes_ -= waiting_.back().bytes;
      waiting_.pop_back();
    }
  }

  Scheduler& scheduler_;
  const size_t max_bytes_;

  mutable Mutex mu_;
  CondVar changed_;
  std::deque<Waiting> waiting_ MILLRACE_GUARDED_BY(mu_);  // a deque keeps references to its pieces
  size_t bytes_ MILLRACE_GUARDED_BY(mu_) = 0;
  bool front_in_use_ MILLRACE_GUARDED_BY(mu_) = false;
  std::optional<absl::Status> end_ MILLRACE_GUARDED_BY(mu_);
  bool stopped_ MILLRACE_GUARDED_BY(mu_) = false;
  bool delivered_ MILLRACE_GUARDED_BY(mu_) = false;
  std::unique_ptr<Job> parked_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
