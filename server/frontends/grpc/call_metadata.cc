#include "server/frontends/grpc/call_metadata.h"

#include <algorithm>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {
namespace {

// gRPC's own name for the time after which to try again; clients with a retry policy obey it.
constexpr char kRetryPushback[] = "grpc-retry-pushback-ms";
constexpr char kRequestId[] = "x-request-id";
constexpr char kPriority[] = "x-priority";

// Returns an empty string if the call carries none.
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

namespace {

// Returns the owner of the call's key.
absl::StatusOr<Principal> PrincipalOf(const ApiKeyStore& keys, const ByteCall& call) {
  // A proxy and this server could heed different ones of several.
  for (const char* name : {"authorization", "x-api-key", kPriority}) {
    if (call.HasSeveral(name))
      return InvalidArgument(name, ": is given twice, with different values");
  }
  const std::string_view key = KeyOf(call);
  if (key.empty()) {
    return absl::UnauthenticatedError(
        "an API key is needed: send it as metadata 'authorization: Bearer <key>' or 'x-api-key: "
        "<key>'");
  }
  const auto principal = keys.Authenticate(key);
  if (!principal) return absl::UnauthenticatedError("the API key is not known");
  return *principal;
}

}  // namespace

absl::Status Authenticate(const ApiKeyStore* keys, const ByteCall& call, Role role) {
  if (keys == nullptr) return absl::OkStatus();
  MILLRACE_ASSIGN_OR_RETURN(const Principal principal, PrincipalOf(*keys, call));
  if (role == Role::kAdmin && principal.role != Role::kAdmin) {
    return absl::PermissionDeniedError("this call needs an API key with the role 'admin'");
  }
  return absl::OkStatus();
}

tracing::Arrival ArrivalOf(const ByteCall& call, const Services& services) {
  tracing::Arrival arrival;
  if (services.tracer == nullptr) return arrival;
  arrival.traceparent = call.Metadata("traceparent");
  if (!arrival.traceparent.empty()) arrival.tracestate = call.Metadata("tracestate");
  return arrival;
}

absl::Status AuthenticateCaller(ByteCall& call, RequestRun& run) {
  const Services& services = run.services();
  std::string name;
  if (services.keys != nullptr) {
    MILLRACE_ASSIGN_OR_RETURN(Principal principal, PrincipalOf(*services.keys, call));
    name = std::move(principal.name);
    call.SetCaller(name);
  }
  if (services.limits != nullptr) run.SetCaller(name, call.Metadata(kPriority));
  return absl::OkStatus();
}

models::TimeLimit LimitOf(const ByteCall& call, const RequestRun& run, bool streamed) {
  models::TimeLimit limit = run.Limit(streamed);
  const auto deadline = call.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return limit;
  // Bounded, so that no sum overflows.
  const auto left = std::min<std::chrono::system_clock::duration>(
      deadline - std::chrono::system_clock::now(), std::chrono::hours(24 * 366));
  limit.last = run.start() + std::chrono::duration_cast<Duration>(left);
  limit.deadline = std::min(limit.deadline, limit.last);
  return limit;
}

Requester RequesterOf(const ByteCall& call, const Services& services) {
  Requester requester{.request_id = std::string(call.Metadata(kRequestId)),
                      .caller = {.address = AddressOfPeer(call.peer()), .key = {}}};
  if (services.keys == nullptr) return requester;
  if (const auto principal = services.keys->Authenticate(KeyOf(call)))
    requester.caller.key = principal->name;
  return requester;
}

void AddTrailers(const absl::Status& status, RequestRun& run, ByteCall& call) {
  const RateLimitFields limit =
      absl::IsResourceExhausted(status) ? run.rate_limit() : run.rate_limit_if_due();
  if (!limit.policy.empty()) {
    call.AddTrailingMetadata("ratelimit-policy", limit.policy);
    call.AddTrailingMetadata("ratelimit", limit.state);
    if (const int seconds = RetryAfterSeconds(status); seconds > 0)
      call.AddTrailingMetadata("retry-after", StrCat(seconds));
  }
  if (!status.ok()) {
    if (const auto hint = RetryHint(status); hint.count() > 0)
      call.AddTrailingMetadata(kRetryPushback, StrCat(hint.count()));
  }
  // Refusals are not logged, so they carry no id to look for.
  if ((!status.ok() && !absl::IsResourceExhausted(status)) || RequestRun::IsLogged(status))
    call.AddTrailingMetadata(kRequestId, run.RequestId(call.Metadata(kRequestId)));
}

}  // namespace millrace::server
