#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/requests/request_run.h"
#include "server/requests/services.h"
#include "server/rpc/byte_call.h"

namespace millrace::server {

// What a call says besides its message, and what its trailers tell the client. These functions
// never block.

// "ipv4:127.0.0.1:1234" and "ipv6:%5B::1%5D:1234", as gRPC has them, without what a reader of the
// log does not need.
std::string AddressOfPeer(std::string_view peer);

// OK when no keys are asked for or the call carries a known one of that role (an admin may do
// everything); else UNAUTHENTICATED or PERMISSION_DENIED.
absl::Status Authenticate(const ApiKeyStore* keys, const ByteCall& call, Role role);

// Returns what the call asks for, or why it may not have it. Task: a UnaryTask or a StreamTask.
template <typename Task>
absl::StatusOr<Work> DecodeWork(Task& task, const ByteCall& call, const Services& services) {
  return OrInternal([&]() -> absl::StatusOr<Work> {
    absl::Status status = Authenticate(services.keys, call, Role::kUser);
    if (!status.ok()) return status;
    return task.Decode(call.request(), services);
  });
}

// The call's deadline, cut to Services::max_request_time.
TimePoint DeadlineOf(const ByteCall& call, const RequestRun& run);

// Who calls.
Requester RequesterOf(const ByteCall& call, const Services& services);

// Adds the trailers of a call that ends so: when to try again, and the id to look for in the log.
// Must be called before the call's Finish, on the same thread.
void AddTrailers(const absl::Status& status, RequestRun& run, ByteCall& call);

}  // namespace millrace::server
