#include "server/frontends/grpc/work_call.h"

#include <algorithm>
#include <utility>

#include "models/core/strings.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {
namespace {

// gRPC's own name for "come back after": clients with a retry policy obey it.
constexpr char kRetryPushback[] = "grpc-retry-pushback-ms";
constexpr char kRequestId[] = "x-request-id";

// Empty: none came.
std::string_view KeyOf(const ByteCall& call) {
  const std::string_view key = BearerToken(call.Metadata("authorization"));
  return key.empty() ? call.Metadata("x-api-key") : key;
}

}  // namespace

std::string AddressOfPeer(std::string_view peer) {
  for (const std::string_view scheme : {"ipv4:", "ipv6:"}) {
    if (peer.starts_with(scheme)) peer.remove_prefix(scheme.size());
  }
  std::string address(peer);
  for (const auto& [escaped, plain] : {std::pair{"%5B", "["}, {"%5D", "]"}, {"%25", "%"}}) {
    if (const size_t at = address.find(escaped); at != std::string::npos)
      address.replace(at, 3, plain);
  }
  return address;
}

absl::Status Authenticate(const ApiKeyStore* keys, const ByteCall& call, Role role) {
  if (keys == nullptr) return absl::OkStatus();
  const std::string_view key = KeyOf(call);
  if (key.empty()) {
    return absl::UnauthenticatedError(
        "an API key is needed: send it as metadata 'authorization: Bearer <key>' or 'x-api-key: "
        "<key>'");
  }
  const auto principal = keys->Authenticate(key);
  if (!principal) return absl::UnauthenticatedError("the API key is not known");
  if (role == Role::kAdmin && principal->role != Role::kAdmin) {
    return absl::PermissionDeniedError("this call needs an API key with the role 'admin'");
  }
  return absl::OkStatus();
}

void WorkCall::Begin() {
  bool queued = false;  // then `this` may be gone
  const absl::Status end = OrInternal([this, &queued]() -> absl::Status {
    absl::StatusOr<Work> work = DecodeForUser();
    if (!work.ok()) return work.status();
    if (work->model == nullptr) return absl::OkStatus();
    absl::Status status = Submit(*std::move(work), Deadline());
    queued = status.ok();
    return status;
  });
  if (!queued) Finish(end);
}

absl::StatusOr<Work> WorkCall::DecodeForUser() {
  if (absl::Status status = Authenticate(services().keys, call_, Role::kUser); !status.ok())
    return status;
  return Decode();
}

TimePoint WorkCall::Deadline() const {
  const TimePoint cap = start() + services().max_request_time;
  const auto deadline = call_.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return cap;
  const auto left = std::min<std::chrono::system_clock::duration>(
      deadline - std::chrono::system_clock::now(), services().max_request_time);
  return std::min(cap, start() + std::chrono::duration_cast<Duration>(left));
}

std::string_view WorkCall::ClientRequestId() const { return call_.Metadata(kRequestId); }

Caller WorkCall::GetCaller() const {
  Caller caller{.address = AddressOfPeer(call_.peer()), .key = {}};
  if (services().keys == nullptr) return caller;
  if (const auto principal = services().keys->Authenticate(KeyOf(call_)))
    caller.key = principal->name;
  return caller;
}

void WorkCall::AddTrailers(const absl::Status& status) {
  if (!status.ok()) {
    if (const auto hint = RetryHint(status); hint.count() > 0)
      call_.AddTrailingMetadata(kRetryPushback, StrCat(hint.count()));
  }
  // Refusals are not logged: they go without an id to look for.
  if ((!status.ok() && !absl::IsResourceExhausted(status)) || IsLogged(status))
    call_.AddTrailingMetadata(kRequestId, RequestId());
}

}  // namespace millrace::server
