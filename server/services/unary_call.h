#pragma once

#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/services/work_call.h"

namespace millrace::server {

// A call with one reply. It owns itself: made by the handler, deleted by OnDone. The request and
// reply buffers belong to gRPC and last until Finish.
class UnaryCall : public grpc::ServerUnaryReactor, public WorkCall {
 public:
  // Decodes the request and queues it, or ends the call. Call it last.
  void Start() { Begin(); }

  void Finish(const absl::Status& status) override {
    absl::Status result = Outcome(status);
    if (result.ok()) result = Encode(response_);
    const grpc::Status end = AddTrailers(result);
    Record(result);
    grpc::ServerUnaryReactor::Finish(end);
  }

 protected:
  UnaryCall(Services& services, grpc::CallbackServerContext& rpc, Method method,
            const grpc::ByteBuffer& request, grpc::ByteBuffer& response)
      : WorkCall(services, rpc, method), request_(request), response_(response) {}

  // What the call ends with when its work ended so.
  virtual absl::Status Outcome(const absl::Status& status) { return status; }
  // Turns what was emitted into the reply.
  virtual absl::Status Encode(grpc::ByteBuffer& response) = 0;

  const grpc::ByteBuffer& request() const { return request_; }

 private:
  void OnCancel() final { CancelWork(); }
  void OnDone() final { delete this; }
  // Both reactions are short and never block, so gRPC may run them where it is instead of handing
  // them to another thread.
  bool InternalInlineable() final { return true; }

  const grpc::ByteBuffer& request_;
  grpc::ByteBuffer& response_;
};

}  // namespace millrace::server
