#include "server/services/work_call.h"

#include <algorithm>
#include <utility>

#include "models/core/strings.h"
#include "server/logging/logging.h"
#include "server/logging/request_id.h"
#include "server/scheduling/refusal.h"
#include "server/services/status_mapping.h"

namespace millrace::server {
namespace {

// gRPC's own name for "come back after": clients with a retry policy obey it.
constexpr char kRetryPushback[] = "grpc-retry-pushback-ms";
constexpr char kRequestId[] = "x-request-id";

std::string_view Metadata(const grpc::CallbackServerContext& rpc, const char* key) {
  const auto& metadata = rpc.client_metadata();
  const auto found = metadata.find(key);
  return found == metadata.end() ? std::string_view()
                                 : std::string_view(found->second.data(), found->second.size());
}

LogLevel LevelOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return LogLevel::kDebug;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDataLoss:
      return LogLevel::kError;
    // One line for each refused request would be a second flood.
    case absl::StatusCode::kResourceExhausted:
      return LogLevel::kDebug;
    default:
      return LogLevel::kInfo;
  }
}

}  // namespace

absl::Status Authenticate(const ApiKeyStore* keys, const grpc::CallbackServerContext& rpc,
                          Role role) {
  if (keys == nullptr) return absl::OkStatus();
  std::string_view key = BearerToken(Metadata(rpc, "authorization"));
  if (key.empty()) key = Metadata(rpc, "x-api-key");
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
  const absl::Status status = Enqueue();
  if (!status.ok()) Finish(status);
}

absl::Status WorkCall::Enqueue() {
  if (absl::Status status = Authenticate(services_.keys, rpc_, Role::kUser); !status.ok())
    return status;
  absl::StatusOr<Work> work = Decode();
  if (!work.ok()) return work.status();
  model_ = std::move(work->model);
  if (absl::Status status = model_->model().Validate(work->input); !status.ok()) return status;
  absl::StatusOr<Ticket> ticket = services_.admission.TryEnter();
  if (!ticket.ok()) {
    metrics().CountRefusal(absl::IsUnavailable(ticket.status()) ? Refusal::kDraining
                                                                : Refusal::kTooMany);
    return ticket.status();
  }
  ticket_ = *std::move(ticket);
  auto job =
      std::make_unique<Job>(std::move(work->input), Deadline(), *this, model_, services_.clock);
  // Once it is queued, this may be gone.
  const std::shared_ptr<ServedModel> counted = work->characters != 0 ? model_ : nullptr;
  absl::Status status = services_.scheduler.Submit(job);
  if (status.ok()) {
    if (counted != nullptr)
      counted->metrics().characters.Increment(static_cast<double>(work->characters));
  } else {
    metrics().CountRefusal(absl::IsUnavailable(status) ? Refusal::kDraining : Refusal::kQueueFull);
  }
  return status;
}

TimePoint WorkCall::Deadline() const {
  const TimePoint cap = start_ + services_.max_request_time;
  const auto deadline = rpc_.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return cap;
  const auto left = std::min<std::chrono::system_clock::duration>(
      deadline - std::chrono::system_clock::now(), services_.max_request_time);
  return std::min(cap, start_ + std::chrono::duration_cast<Duration>(left));
}

void WorkCall::CancelWork() {
  Cancel();
  if (model_ == nullptr) return;
  if (auto job = services_.scheduler.Remove(model_->queue(), *this)) {
    const absl::Status why = StopStatus(job->request);
    FinishJob(std::move(job), why);
  }
}

grpc::Status WorkCall::AddTrailers(const absl::Status& status) {
  if (!status.ok()) {
    if (const auto hint = RetryHint(status); hint.count() > 0)
      rpc_.AddTrailingMetadata(kRetryPushback, StrCat(hint.count()));
  }
  // Refusals are not logged: they go without an id to look for.
  if ((!status.ok() && !absl::IsResourceExhausted(status)) ||
      logging::Enabled(LevelOf(status.code()))) {
    request_id_ = logging::RequestIdFrom(Metadata(rpc_, kRequestId));
    rpc_.AddTrailingMetadata(kRequestId, request_id_);
  }
  return ToGrpcStatus(status);
}

void WorkCall::Record(const absl::Status& status) {
  const Duration took = services_.clock.Now() - start_;
  metrics().CountRequest(method_, status.code(), took);
  const LogLevel level = LevelOf(status.code());
  if (!logging::Enabled(level)) return;
  if (request_id_.empty()) request_id_ = logging::RequestIdFrom(Metadata(rpc_, kRequestId));
  logging::Log(level, "request",
               {{"request_id", request_id_},
                {"method", ToString(method_)},
                {"model", model_ != nullptr ? model_->info().name : std::string()},
                {"code", StatusCodeName(status.code())},
                {"error", Message(status)},
                {"seconds", Seconds(took)}});
}

}  // namespace millrace::server
