#pragma once

#include <exception>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/rpc/rpc.h"
#include "server/services/services.h"
#include "server/services/work_reply.h"

namespace millrace::server {

// OK when no keys are asked for or the call carries a known one of that role (an admin may do
// everything); else UNAUTHENTICATED or PERMISSION_DENIED.
absl::Status Authenticate(const ApiKeyStore* keys, const Rpc& rpc, Role role);

// What the function returns, or INTERNAL when it throws, as for want of memory.
template <typename Function>
auto OrInternal(Function function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::exception& error) {
    return absl::InternalError(error.what());
  }
}

// The common part of the gRPC calls that do work. Begin runs on a thread of gRPC's and
// never blocks; the end may come on any thread.
class WorkCall : public WorkReply {
 protected:
  WorkCall(Services& services, Rpc& rpc, Method method) : WorkReply(services, method), rpc_(rpc) {}

  // The request's work or what is wrong with it: checks what needs no model, finds the model. Work
  // without a model is done already.
  virtual absl::StatusOr<Work> Decode() = 0;

  // Takes the call to its queue; on failure ends it by Finish. Call it last: `this` may be gone by
  // the return.
  void Begin();
  // From Finish, before the call's own.
  void AddTrailers(const absl::Status& status);

  Rpc& rpc() { return rpc_; }
  TimePoint Deadline() const;

 private:
  absl::StatusOr<Work> DecodeForUser();
  std::string_view ClientRequestId() const final;

  Rpc& rpc_;
};

}  // namespace millrace::server
