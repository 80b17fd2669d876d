#include "server/requests/request_run.h"

#include <utility>

#include "models/core/strings.h"
#include "server/logging/logging.h"
#include "server/logging/request_id.h"

namespace millrace::server {
namespace {

LogLevel LevelOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return LogLevel::kDebug;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDataLoss:
      return LogLevel::kError;
    // Logging each refused request would add a flood of lines to the flood of requests.
    case absl::StatusCode::kResourceExhausted:
      return LogLevel::kDebug;
    default:
      return LogLevel::kInfo;
  }
}

}  // namespace

std::optional<absl::Status> RequestRun::Begin(absl::StatusOr<Work>&& work, TimePoint deadline) {
  if (!work.ok()) return work.status();
  if (work->model == nullptr) return absl::OkStatus();
  absl::Status status = OrInternal([&] { return Submit(*std::move(work), deadline); });
  if (status.ok()) return std::nullopt;
  return status;
}

absl::Status RequestRun::Submit(Work&& work, TimePoint deadline) {
  model_ = std::move(work.model);
  pivot_ = std::move(work.pivot);
  if (absl::Status status = model_->model().Validate(work.input); !status.ok()) return status;
  Reply& reply = pivot_ != nullptr ? pivot_->Begin(reply_, deadline) : reply_;
  const auto characters = static_cast<double>(work.characters);
  if (ticket_.held()) {
    // This is the next part of an admitted request, which must not be refused halfway.
    if (characters != 0) metrics().characters.Increment(characters);
    services_.scheduler.Requeue(
        std::make_unique<Job>(std::move(work.input), deadline, reply, model_, services_.clock));
    return absl::OkStatus();
  }
  absl::StatusOr<Ticket> ticket = services_.admission.TryEnter();
  if (!ticket.ok()) {
    metrics().CountRefusal(absl::IsUnavailable(ticket.status()) ? Refusal::kDraining
                                                                : Refusal::kTooMany);
    model_->counts().CountFailure(elapsed());
    return ticket.status();
  }
  ticket_ = *std::move(ticket);
  auto job = std::make_unique<Job>(std::move(work.input), deadline, reply, model_, services_.clock);
  // This object may be gone once the job is queued.
  const std::shared_ptr<ServedModel> counted = characters != 0 ? model_ : nullptr;
  absl::Status status = services_.scheduler.Submit(job);
  if (status.ok()) {
    if (counted != nullptr) counted->metrics().characters.Increment(characters);
  } else {
    metrics().CountRefusal(absl::IsUnavailable(status) ? Refusal::kDraining : Refusal::kQueueFull);
    model_->counts().CountFailure(elapsed());
  }
  return status;
}

void RequestRun::Cancel() {
  reply_.Cancel();
  if (model_ == nullptr) return;
  if (pivot_ != nullptr) return pivot_->EndWaiting();
  if (auto job = services_.scheduler.Remove(model_->queue(), reply_)) {
    const absl::Status why = StopStatus(job->request);
    FinishJob(std::move(job), why);
  }
}

const std::string& RequestRun::RequestId(std::string_view from_client) {
  if (request_id_.empty()) request_id_ = logging::RequestIdFrom(from_client);
  return request_id_;
}

bool RequestRun::IsLogged(const absl::Status& status) {
  return logging::Enabled(LevelOf(status.code()));
}

void RequestRun::Record(const absl::Status& status, absl::FunctionRef<Requester()> requester) {
  const Duration took = elapsed();
  metrics().CountRequest(method_, status.code(), took);
  if (!IsLogged(status)) return;
  const Requester from = requester();
  logging::Log(LevelOf(status.code()), "request",
               {{"request_id", RequestId(from.request_id)},
                {"client", from.caller.address},
                {"key", from.caller.key},
                {"method", ToString(method_)},
                {"model", model_ != nullptr ? model_->info().name : std::string()},
                {"code", StatusCodeName(status.code())},
                {"error", Message(status)},
                {"seconds", Seconds(took)}});
}

}  // namespace millrace::server
