#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "mps_runtime/base/mutex.h"
#include "server/requests/reply_buffer.h"
#include "server/requests/request_run.h"
#include "server/rpc/byte_buffer.h"
#include "server/rpc/byte_call.h"

namespace millrace::server {

// Sends the messages of a call with a stream of replies as fast as the client takes them. It is a
// member of the call's Reply, which forwards events to it. Thread-safe.
class ReplyStream {
 public:
  ReplyStream(ByteCall& call, RequestRun& run)
      : call_(call),
        run_(run),
        buffer_(services().scheduler, services().max_buffered_bytes),
        last_progress_(run.start()) {}
  ReplyStream(const ReplyStream&) = delete;
  ReplyStream& operator=(const ReplyStream&) = delete;

  // Queues a message for the client.
  void Send(const google::protobuf::Message& message) MILLRACE_EXCLUDES(mu_);
  // Ends the call once all messages are written; an error discards those that wait. Must be called
  // once. The reply may be destroyed before this returns.
  void End(const absl::Status& status) MILLRACE_EXCLUDES(mu_);
  // Counts the request and logs its end. Called from OnDone.
  void Record() MILLRACE_EXCLUDES(mu_);

  // These implement the Reply's functions of the same names.
  bool Congested() const { return buffer_.Congested(); }
  void Park(std::unique_ptr<Job> job) { buffer_.Park(std::move(job)); }
  // Called by the call's handler.
  void OnWriteDone(bool ok) MILLRACE_EXCLUDES(mu_);
  // See ReplyBuffer.
  void Stop() { buffer_.Stop(); }

  // See StallingStream.
  TimePoint waiting_since() const MILLRACE_EXCLUDES(mu_);
  // Returns when the client last took something, or when something began to wait for it.
  TimePoint last_progress() const MILLRACE_EXCLUDES(mu_);

 private:
  const Services& services() const { return run_.services(); }
  // Writes the next message. Returns the status to finish the call with, if it is time; the caller
  // must release the lock first, because the call may be destroyed at once.
  std::optional<absl::Status> Advance() MILLRACE_REQUIRES(mu_);

  ByteCall& call_;
  RequestRun& run_;
  ReplyBuffer<ByteBuffer> buffer_;  // its first message is in progress while writing_

  mutable Mutex mu_;
  bool writing_ MILLRACE_GUARDED_BY(mu_) = false;
  bool broken_ MILLRACE_GUARDED_BY(mu_) = false;  // a write failed, since the client is gone
  TimePoint last_progress_ MILLRACE_GUARDED_BY(mu_);
  std::optional<absl::Status> end_ MILLRACE_GUARDED_BY(mu_);
  bool finished_ MILLRACE_GUARDED_BY(mu_) = false;
};

}  // namespace millrace::server
