#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "mps_runtime/base/mutex.h"
#include "server/requests/request_run.h"
#include "server/rpc/byte_buffer.h"
#include "server/rpc/byte_call.h"

namespace millrace::server {

// The messages of a call with a stream of replies, on their way to the client. They wait here while
// the client takes its time. When too many bytes wait, the job is parked until the client has
// caught up, so that neither memory nor a worker is held by a slow reader.
//
// A member of the call's Reply, which passes on what it is told. Thread-safe.
class ReplyStream {
 public:
  ReplyStream(ByteCall& call, RequestRun& run)
      : call_(call), run_(run), last_progress_(run.start()) {}
  ReplyStream(const ReplyStream&) = delete;
  ReplyStream& operator=(const ReplyStream&) = delete;

  // Queues a message for the client.
  void Send(const google::protobuf::Message& message) MILLRACE_EXCLUDES(mu_);
  // Ends the call once the messages are written; with an error, without those that wait. Once. The
  // reply may be gone by the return.
  void End(const absl::Status& status) MILLRACE_EXCLUDES(mu_);
  // Counts and logs the end. From OnDone.
  void Record() MILLRACE_EXCLUDES(mu_);

  // For the Reply's functions of these names.
  bool Congested() const MILLRACE_EXCLUDES(mu_);
  void Park(std::unique_ptr<Job> job) MILLRACE_EXCLUDES(mu_);
  // For the call's handler.
  void OnWriteDone(bool ok) MILLRACE_EXCLUDES(mu_);
  // Ends the job that waits for the client, if there is one.
  void DropParked() MILLRACE_EXCLUDES(mu_);

  // As StallingStream's.
  TimePoint waiting_since() const MILLRACE_EXCLUDES(mu_);
  // When the client last took something, or something began to wait for it.
  TimePoint last_progress() const MILLRACE_EXCLUDES(mu_);

 private:
  const Services& services() const { return run_.services(); }
  // Writes what comes next. Returns what to finish the call with once the lock is gone, if it is
  // time for that: it may be gone at once.
  std::optional<absl::Status> Advance() MILLRACE_REQUIRES(mu_);

  ByteCall& call_;
  RequestRun& run_;

  mutable Mutex mu_;
  std::deque<ByteBuffer> pending_
      MILLRACE_GUARDED_BY(mu_);  // the first is being written while writing_
  size_t pending_bytes_ MILLRACE_GUARDED_BY(mu_) = 0;
  bool writing_ MILLRACE_GUARDED_BY(mu_) = false;
  bool broken_ MILLRACE_GUARDED_BY(mu_) = false;  // the client is gone: nothing more is written
  TimePoint last_progress_ MILLRACE_GUARDED_BY(mu_);
  std::unique_ptr<Job> parked_ MILLRACE_GUARDED_BY(mu_);
  std::optional<absl::Status> end_ MILLRACE_GUARDED_BY(mu_);
  bool finished_ MILLRACE_GUARDED_BY(mu_) = false;
};

}  // namespace millrace::server
