#pragma once

#include <utility>

#include "server/frontends/grpc/answer.h"
#include "server/frontends/grpc/work_call.h"
#include "server/rpc/byte_buffer.h"

namespace millrace::server {

// A call with one reply. It owns itself: made by the method's function, deleted by OnDone.
class UnaryCall : public ByteCall::Handler, public WorkCall {
 public:
  // Decodes the request and queues it, or ends the call. Call it last.
  void Start() {
    call().SetHandler(*this);
    Begin();
  }

  void Finish(const absl::Status& status) override {
    ByteBuffer reply;
    const absl::Status result = OrInternal([&] {
      absl::Status end = Outcome(status);
      return end.ok() ? Encode(reply) : end;
    });
    AddTrailers(result);
    Record(result);
    Answer(call(), result, std::move(reply));
  }

 protected:
  using WorkCall::WorkCall;

  // What the call ends with when its work ended so.
  virtual absl::Status Outcome(const absl::Status& status) { return status; }
  // Turns what was emitted into the reply.
  virtual absl::Status Encode(ByteBuffer& reply) = 0;

 private:
  void OnCancel() final { CancelWork(); }
  void OnDone() final { delete this; }
};

}  // namespace millrace::server
