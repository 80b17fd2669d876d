#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "google/protobuf/message.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "mps_runtime/base/mutex.h"
#include "server/services/work_call.h"

namespace millrace::server {

// A call with a stream of replies, on one of gRPC's reactors that write. Outputs wait here while
// the client takes its time; when too much waits, the job is parked until the client has caught up,
// so that neither memory nor a worker is held by a slow reader. It owns itself: made by the
// handler, deleted by OnDone.
template <class Reactor>
class BasicStreamCall : public Reactor, public WorkCall, public StallingStream {
 public:
  void Finish(const absl::Status& status) override MILLRACE_EXCLUDES(mu_);
  bool Congested() const final MILLRACE_EXCLUDES(mu_);
  void Park(std::unique_ptr<Job> job) final MILLRACE_EXCLUDES(mu_);

  TimePoint waiting_since() const override MILLRACE_EXCLUDES(mu_);
  void Abort() final { rpc().TryCancel(); }

 protected:
  BasicStreamCall(Services& services, grpc::CallbackServerContext& rpc, Method method)
      : WorkCall(services, rpc, method), last_progress_(services.clock.Now()) {}

  // Makes the call known to the registry of streams. First of all, once it is made as a whole.
  void Register() { services().streams.Add(*this); }
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

  // What to do with gRPC once the lock is gone: its calls may come back to us on this thread.
  enum class Next { kNothing, kWrite, kFinish };
  Next Advance() MILLRACE_REQUIRES(mu_);
  void Do(Next next) MILLRACE_EXCLUDES(mu_);

  mutable Mutex mu_;
  std::deque<grpc::ByteBuffer> pending_
      MILLRACE_GUARDED_BY(mu_);  // the first is being written while writing_
  size_t pending_bytes_ MILLRACE_GUARDED_BY(mu_) = 0;
  bool writing_ MILLRACE_GUARDED_BY(mu_) = false;
  bool broken_ MILLRACE_GUARDED_BY(mu_) = false;  // the client is gone: nothing more is written
  TimePoint last_progress_ MILLRACE_GUARDED_BY(mu_);
  std::unique_ptr<Job> parked_ MILLRACE_GUARDED_BY(mu_);
  std::optional<grpc::Status> end_ MILLRACE_GUARDED_BY(mu_);
  absl::Status outcome_ MILLRACE_GUARDED_BY(mu_);  // the same as ours
  bool finished_ MILLRACE_GUARDED_BY(mu_) = false;
};

// A call with one request and a stream of replies.
class StreamCall : public BasicStreamCall<grpc::ServerWriteReactor<grpc::ByteBuffer>> {
 public:
  // Decodes the request and queues it, or ends the call. Call it last.
  void Start() {
    Register();
    Begin();
  }

 protected:
  StreamCall(Services& services, grpc::CallbackServerContext& rpc, Method method,
             const grpc::ByteBuffer& request)
      : BasicStreamCall(services, rpc, method), request_(request) {}

  const grpc::ByteBuffer& request() const { return request_; }

 private:
  const grpc::ByteBuffer& request_;  // gRPC's, valid while Start decodes it
};

}  // namespace millrace::server
