#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/requests/services.h"
#include "server/requests/work_reply.h"
#include "server/rpc/byte_call.h"

namespace millrace::server {

// "ipv4:127.0.0.1:1234" and "ipv6:%5B::1%5D:1234", as gRPC has them, without what a reader of the
// log does not need.
std::string AddressOfPeer(std::string_view peer);

// OK when no keys are asked for or the call carries a known one of that role (an admin may do
// everything); else UNAUTHENTICATED or PERMISSION_DENIED.
absl::Status Authenticate(const ApiKeyStore* keys, const ByteCall& call, Role role);

// The common part of the gRPC calls that do work. Begin runs on a thread of gRPC's and
// never blocks; the end may come on any thread.
class WorkCall : public WorkReply {
 protected:
  WorkCall(Services& services, ByteCall& call, Method method)
      : WorkReply(services, method), call_(call) {}

  // The request's work or what is wrong with it: checks what needs no model, finds the model. Work
  // without a model is done already.
  virtual absl::StatusOr<Work> Decode() = 0;

  // Takes the call to its queue; on failure ends it by Finish. Call it last: `this` may be gone by
  // the return.
  void Begin();
  // From Finish, before the call's own.
  void AddTrailers(const absl::Status& status);

  ByteCall& call() { return call_; }
  TimePoint Deadline() const;

 private:
  absl::StatusOr<Work> DecodeForUser();
  std::string_view ClientRequestId() const final;
  Caller GetCaller() const final;

  ByteCall& call_;
};

}  // namespace millrace::server
