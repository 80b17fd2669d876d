#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/core/errors.h"
#include "server/requests/request_run.h"
#include "server/requests/services.h"
#include "server/rpc/byte_call.h"

namespace millrace::server {

// These functions read what a call carries besides its message, and write the trailers that the
// client gets. They never block.

// Returns gRPC's name of a peer, such as "ipv4:127.0.0.1:1234" or "ipv6:%5B::1%5D:1234", without
// what a reader of the log does not need.
std::string AddressOfPeer(std::string_view peer);

// Returns OK if no keys are required or the call carries a known one of that role (an admin may do
// everything); otherwise UNAUTHENTICATED or PERMISSION_DENIED.
absl::Status Authenticate(const ApiKeyStore* keys, const ByteCall& call, Role role);

// The same for a user's request, which then counts for the owner of the key.
absl::Status AuthenticateCaller(ByteCall& call, RequestRun& run);

// Returns what the call asks for, or why it may not have it. Task: a UnaryTask or a StreamTask.
template <typename Task>
absl::StatusOr<Work> DecodeWork(Task& task, ByteCall& call, RequestRun& run) {
  return OrInternal([&]() -> absl::StatusOr<Work> {
    MILLRACE_RETURN_IF_ERROR(AuthenticateCaller(call, run));
    return task.Decode(call.request(), run.services());
  });
}

// Returns what the call says for its trace; nothing unless requests are traced.
tracing::Arrival ArrivalOf(const ByteCall& call, const Services& services);

// Returns the time of a call: its deadline, limited to Services::max_request_time. streamed: the
// answer is taken while it is made, and Services::max_request_time is that between two parts of it.
models::TimeLimit LimitOf(const ByteCall& call, const RequestRun& run, bool streamed);

// Returns the client's address and the name of its key.
Requester RequesterOf(const ByteCall& call, const Services& services);

// Adds the trailers of a call that ends with this status: when to try again, the caller's limits,
// and the id to look for in the log. Must be called before the call's Finish, on the same thread.
void AddTrailers(const absl::Status& status, RequestRun& run, ByteCall& call);

// Adds the trailing metadata "warning" if the call's task has a warning, as speech has. Must be
// called before the call's Finish, on the same thread.
template <typename Task>
void AddWarning(const Task& task, ByteCall& call) {
  if constexpr (requires { task.warning(); }) {
    if (!task.warning().empty()) call.AddTrailingMetadata("warning", task.warning());
  }
}

}  // namespace millrace::server
