#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/status.h"
#include "server/services/services.h"
#include "server/services/work_reply.h"

namespace millrace::server {

// OK when no keys are asked for or the call carries a known one of that role (an admin may do
// everything); else UNAUTHENTICATED or PERMISSION_DENIED.
absl::Status Authenticate(const ApiKeyStore* keys, const grpc::CallbackServerContext& rpc,
                          Role role);

// The common part of the gRPC calls that do work. The reactors derive from it. Begin runs on a gRPC
// thread and never blocks; the end may come on any thread.
class WorkCall : public WorkReply {
 protected:
  WorkCall(Services& services, grpc::CallbackServerContext& rpc, Method method)
      : WorkReply(services, method), rpc_(rpc) {}

  // The request's work or what is wrong with it: checks what needs no model, finds the model. Work
  // without a model is done already.
  virtual absl::StatusOr<Work> Decode() = 0;

  // Takes the call to its queue; on failure ends it by Finish. Call it last: `this` may be gone by
  // the return.
  void Begin();
  // From Finish, before the reactor's own: adds trailers. Returns what to send.
  grpc::Status AddTrailers(const absl::Status& status);

  grpc::CallbackServerContext& rpc() { return rpc_; }
  TimePoint Deadline() const;

 private:
  absl::StatusOr<Work> DecodeForUser();
  std::string_view ClientRequestId() const final;

  grpc::CallbackServerContext& rpc_;
};

}  // namespace millrace::server
