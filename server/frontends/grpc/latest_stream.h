#pragma once

#include <utility>

#include "absl/status/status.h"
#include "mps_runtime/base/mutex.h"
#include "server/frontends/grpc/message_codec.h"
#include "server/rpc/byte_buffer.h"
#include "server/rpc/byte_call.h"

namespace millrace::server {

// A call that sends its client what is true now. One message is on its way at a time: a client that
// reads slowly misses those between. Thread-safe.
class LatestStream : public ByteCall::Handler {
 public:
  LatestStream(const LatestStream&) = delete;
  LatestStream& operator=(const LatestStream&) = delete;

  // Ends the call behind the message on its way; only the first end counts.
  void End(const absl::Status& status) MILLRACE_EXCLUDES(mu_) {
    {
      const MutexLock lock(mu_);
      if (std::exchange(ended_, true)) return;
    }
    call_.Finish(status);
  }

 protected:
  explicit LatestStream(ByteCall& call) : call_(call) { call.SetHandler(*this); }
  ~LatestStream() = default;

  bool MaySend() const MILLRACE_REQUIRES(mu_) { return !writing_ && !ended_; }
  // Must not be called unless MaySend. Returns false if the message cannot be sent.
  template <typename Message>
  bool Send(const Message& message) MILLRACE_REQUIRES(mu_) {
    if (!SerializeMessage(message, message_).ok()) return false;
    writing_ = true;
    call_.StartWrite(&message_);
    return true;
  }
  // Called when a message has arrived: sends the next one, if there is one.
  virtual void SendNext() MILLRACE_REQUIRES(mu_) {}

  Mutex mu_;

 private:
  void OnWriteDone(bool ok) final MILLRACE_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    writing_ = false;
    if (ok) SendNext();
  }
  void OnCancel() final { End(absl::CancelledError("the caller went away")); }

  ByteCall& call_;
  ByteBuffer message_ MILLRACE_GUARDED_BY(mu_);
  bool writing_ MILLRACE_GUARDED_BY(mu_) = false;
  bool ended_ MILLRACE_GUARDED_BY(mu_) = false;
};

}  // namespace millrace::server
