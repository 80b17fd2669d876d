#include "server/requests/work_reply.h"

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
    // One line for each refused request would be a second flood.
    case absl::StatusCode::kResourceExhausted:
      return LogLevel::kDebug;
    default:
      return LogLevel::kInfo;
  }
}

}  // namespace

absl::Status WorkReply::Submit(Work work, TimePoint deadline) {
  model_ = std::move(work.model);
  next_model_ = std::move(work.next_model);
  deadline_ = deadline;
  if (absl::Status status = model_->model().Validate(work.input); !status.ok()) return status;
  if (ticket_.held()) {
    // The next part of what was let in already: it is not refused halfway.
    if (work.characters != 0) metrics().characters.Increment(static_cast<double>(work.characters));
    services_.scheduler.Requeue(
        std::make_unique<Job>(std::move(work.input), deadline, *this, model_, services_.clock));
    return absl::OkStatus();
  }
  absl::StatusOr<Ticket> ticket = services_.admission.TryEnter();
  if (!ticket.ok()) {
    metrics().CountRefusal(absl::IsUnavailable(ticket.status()) ? Refusal::kDraining
                                                                : Refusal::kTooMany);
    return ticket.status();
  }
  ticket_ = *std::move(ticket);
  auto job = std::make_unique<Job>(std::move(work.input), deadline, *this, model_, services_.clock);
  // Once it is queued, this may be gone.
  const std::shared_ptr<ServedModel> counted = work.characters != 0 ? model_ : nullptr;
  absl::Status status = services_.scheduler.Submit(job);
  if (status.ok()) {
    if (counted != nullptr)
      counted->metrics().characters.Increment(static_cast<double>(work.characters));
  } else {
    metrics().CountRefusal(absl::IsUnavailable(status) ? Refusal::kDraining : Refusal::kQueueFull);
  }
  return status;
}

bool WorkReply::SubmitNext(const std::function<std::optional<models::Input>()>& next,
                           absl::Status& status) {
  std::unique_ptr<Job> job;
  status = OrInternal([&]() -> absl::Status {
    std::optional<models::Input> input = next();
    if (!input) return absl::OkStatus();
    if (cancelled()) return absl::CancelledError("the caller went away");
    if (absl::Status wrong = next_model_->model().Validate(*input); !wrong.ok()) return wrong;
    job = std::make_unique<Job>(*std::move(input), deadline_, *this, next_model_, services_.clock);
    return absl::OkStatus();
  });
  if (job == nullptr) return false;
  services_.scheduler.Enter(std::move(job));
  return true;
}

void WorkReply::CancelWork() {
  Cancel();
  // Whichever of them has the job; once it has ended, this may be gone.
  const std::shared_ptr<ServedModel> models[] = {model_, next_model_};
  for (const auto& model : models) {
    if (model == nullptr) continue;
    if (auto job = services_.scheduler.Remove(model->queue(), *this)) {
      const absl::Status why = StopStatus(job->request);
      return FinishJob(std::move(job), why);
    }
  }
}

const std::string& WorkReply::RequestId() {
  if (request_id_.empty()) request_id_ = logging::RequestIdFrom(ClientRequestId());
  return request_id_;
}

bool WorkReply::IsLogged(const absl::Status& status) {
  return logging::Enabled(LevelOf(status.code()));
}

void WorkReply::Record(const absl::Status& status) {
  const Duration took = services_.clock.Now() - start_;
  metrics().CountRequest(method_, status.code(), took);
  if (!IsLogged(status)) return;
  const Caller caller = GetCaller();
  logging::Log(LevelOf(status.code()), "request",
               {{"request_id", RequestId()},
                {"client", caller.address},
                {"key", caller.key},
                {"method", ToString(method_)},
                {"model", model_ != nullptr ? model_->info().name : std::string()},
                {"code", StatusCodeName(status.code())},
                {"error", Message(status)},
                {"seconds", Seconds(took)}});
}

}  // namespace millrace::server
