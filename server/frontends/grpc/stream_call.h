#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "mps_runtime/base/mutex.h"
#include "server/frontends/grpc/work_call.h"
#include "server/rpc/byte_buffer.h"

namespace millrace::server {

// A call with a stream of replies. Outputs wait here while the client takes its time; when too much
// waits, the job is parked until the client has caught up, so that neither memory nor a worker is
// held by a slow reader. It owns itself: made by the method's function, deleted by OnDone.
class StreamCall : public ByteCall::Handler, public WorkCall, public StallingStream {
 public:
  // Decodes the one request and queues it, or ends the call. Call it last.
  void Start() {
    Register();
    Begin();
  }

  void Finish(const absl::Status& status) override MILLRACE_EXCLUDES(mu_);
  bool Congested() const final MILLRACE_EXCLUDES(mu_);
  void Park(std::unique_ptr<Job> job) final MILLRACE_EXCLUDES(mu_);

  TimePoint waiting_since() const override MILLRACE_EXCLUDES(mu_);
  void Abort() final { call().TryCancel(); }

 protected:
  StreamCall(Services& services, ByteCall& call, Method method)
      : WorkCall(services, call, method), last_progress_(services.clock.Now()) {}

  // Makes the call known to gRPC and the registry of streams. First of all, once it is made as a
  // whole.
  void Register() {
    call().SetHandler(*this);
    services().streams.Add(*this);
  }
  // When the client last took something, or something began to wait for it.
  TimePoint last_progress() const MILLRACE_EXCLUDES(mu_);

  // What the call ends with when its work ended so; may still Send.
  virtual absl::Status Outcome(const absl::Status& status) { return status; }
  // Queues a message for the client.
  void Send(const google::protobuf::Message& message) MILLRACE_EXCLUDES(mu_);

  void OnCancel() override;
  // Ends the job that waits for the client.
  void DropParked() MILLRACE_EXCLUDES(mu_);

 private:
  void OnWriteDone(bool ok) final MILLRACE_EXCLUDES(mu_);
  void OnDone() final MILLRACE_EXCLUDES(mu_);

  // Writes what comes next. Returns what to finish the call with once the lock is gone, if it is
  // time for that: it may be gone at once.
  std::optional<absl::Status> Advance() MILLRACE_REQUIRES(mu_);

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
