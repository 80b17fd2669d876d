#include "server/requests/request_run.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "server/logging/line_limiter.h"
#include "server/logging/logging.h"
#include "server/logging/request_id.h"
#include "server/scheduling/refusal.h"

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

// Wrong requests cost their clients little, and each of their lines would take room on the disk.
constexpr int kLinesAtOnce = 1000;
constexpr Duration kLogInterval = std::chrono::milliseconds(100);

// A client's deadline passes before the server's copy of it, which counts from when the headers
// have come. That is by how much, at most: this time, and this part of the whole.
constexpr Duration kMostAhead = std::chrono::milliseconds(20);
constexpr int kMostAheadPart = 10;

// Returns what a request costs its key. `characters`: of a text whose length is known.
RequestCost CostOf(const models::Input& input, size_t characters) {
  const auto* speech = std::get_if<models::SynthesizeInput>(&input);
  if (speech == nullptr) return {.characters = characters};
  return {.characters = models::CountCodePoints(speech->text), .makes_audio = true};
}

}  // namespace

void RequestRun::SetCaller(std::string_view key, std::string_view priority) {
  if (services_.limits == nullptr) return;
  account_ = services_.limits->AccountOf(key);
  share_ = account_->share();
  if (priority.empty()) return;
  if (const auto asked = ParsePriority(priority)) {
    share_.priority = std::min(share_.priority, *asked);
  } else {
    priority_status_ = InvalidArgument(
        "x-priority: '", priority.substr(0, 32),
        "' is not allowed, allowed: low, normal, high; it may only lower that of the key");
  }
}

absl::Status RequestRun::Charge(const RequestCost& cost) {
  if (!priority_status_.ok()) return priority_status_;
  absl::Status status = account_->Enter(cost);
  if (status.ok()) charged_ = cost;
  return status;
}

std::optional<absl::Status> RequestRun::Begin(absl::StatusOr<Work>&& work,
                                              const models::TimeLimit& limit) {
  if (!work.ok()) return work.status();
  if (work->model == nullptr) return absl::OkStatus();
  models::TimeLimit least = limit;
  if (work->timeout) {
    least.last = std::min(least.last, start_ + *work->timeout);
    least.deadline = std::min(least.deadline, least.last);
  }
  absl::Status status = OrInternal([&] { return Submit(*std::move(work), least); });
  if (status.ok()) return std::nullopt;
  return status;
}

absl::Status RequestRun::Submit(Work&& work, const models::TimeLimit& limit) {
  client_deadline_ = limit.last;
  model_ = std::move(work.model);
  pivot_ = std::move(work.pivot);
  const models::Model& model = model_->model();
  MILLRACE_RETURN_IF_ERROR(model.Validate(work.input));
  if (services_.limits != nullptr && account_ == nullptr) SetCaller("", "");
  RequestCost cost;
  if (account_ != nullptr) cost = CostOf(work.input, work.characters);
  Reply& reply = pivot_ != nullptr ? pivot_->Begin(reply_, limit.deadline, share_) : reply_;
  const auto characters = static_cast<double>(work.characters);
  if (ticket_.held()) {
    // This is the next part of an admitted request, which must not be refused halfway.
    if (characters != 0) metrics().characters.Increment(characters);
    if (account_ != nullptr) account_->AddCharacters(cost.characters);
    auto next =
        std::make_unique<Job>(std::move(work.input), limit, reply, model_, services_.clock, share_);
    next->checked_by = &model;
    services_.scheduler.Requeue(std::move(next));
    return absl::OkStatus();
  }
  absl::StatusOr<Ticket> ticket = services_.admission.TryEnter();
  if (!ticket.ok()) {
    model_->counts().CountFailure(elapsed());
    return ticket.status();
  }
  if (account_ != nullptr) {
    MILLRACE_RETURN_IF_ERROR(Charge(cost));
  }
  ticket_ = *std::move(ticket);
  auto job =
      std::make_unique<Job>(std::move(work.input), limit, reply, model_, services_.clock, share_);
  job->checked_by = &model;
  model.PrepareAhead(job->request);
  // This object may be gone once the job is queued.
  const std::shared_ptr<ServedModel> counted = characters != 0 ? model_ : nullptr;
  absl::Status status = services_.scheduler.Submit(job);
  if (status.ok()) {
    if (counted != nullptr) counted->metrics().characters.Increment(characters);
  } else {
    model_->counts().CountFailure(elapsed());
  }
  return status;
}

void RequestRun::MarkLeft() {
  TimePoint none = TimePoint::max();
  left_.compare_exchange_strong(none, services_.clock.Now());
}

absl::Status RequestRun::OutcomeOf(const absl::Status& status) const {
  const TimePoint left = left_.load();
  if (!absl::IsCancelled(status) || left == TimePoint::max() ||
      client_deadline_ == TimePoint::max())
    return status;
  const Duration ahead = std::min(kMostAhead, (client_deadline_ - start_) / kMostAheadPart);
  if (left < client_deadline_ - ahead) return status;
  return absl::DeadlineExceededError("the client's deadline passed before the work was done");
}

void RequestRun::Cancel() {
  MarkLeft();
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

void RequestRun::ObserveFirstAudio() const {
  const double waited = Seconds(elapsed());
  metrics().first_audio_seconds.Observe(waited);
  if (span_ != nullptr) metrics().first_audio_seconds.SetExemplar(waited, span_->trace_id());
}

void RequestRun::Record(const absl::Status& end, absl::FunctionRef<Requester()> requester) {
  const absl::Status status = OutcomeOf(end);
  if (const auto refusal = RefusalOf(status)) metrics().CountRefusal(*refusal);
  // Nothing was done for a request that the server refused.
  if (charged_ && absl::IsResourceExhausted(status)) account_->Refund(*charged_);
  const Duration took = elapsed();
  metrics().CountRequest(method_, status.code(), took);
  static logging::LineLimiter lines(kLinesAtOnce, kLogInterval);
  LogLevel level = LevelOf(status.code());
  uint64_t not_logged = 0;
  if (level == LogLevel::kInfo) {
    if (const auto held_back = lines.Pass()) {
      not_logged = *held_back;
    } else {
      level = LogLevel::kDebug;
    }
  }
  const bool is_logged = logging::Enabled(level);
  if (span_ == nullptr && !is_logged) return;
  const Requester from = requester();
  const std::string model = model_ != nullptr ? model_->info().name : std::string();
  const auto log = [&](const auto&... more) {
    if (!is_logged) return;
    logging::Log(level, "request",
                 {{"request_id", RequestId(from.request_id)},
                  {"client", from.caller.address},
                  {"key", from.caller.key},
                  {"method", ToString(method_)},
                  {"model", model},
                  {"code", absl::StatusCodeToString(status.code())},
                  {"error", Message(status)},
                  {"seconds", Seconds(took)},
                  {"not_logged", not_logged},
                  more...});
  };
  if (span_ == nullptr) return log();
  const std::string trace_id = span_->trace_id();
  metrics().SetExemplar(method_, took, trace_id);
  log(logging::Field("trace_id", trace_id));
  span_->Finish(
      method_, status, start_ + took,
      {.request_id = RequestId(from.request_id), .client = from.caller.address, .model = model});
}

void RequestRun::BeginTrace(const tracing::Arrival& arrival) {
  span_ = RequestSpan::Begin(*services_.tracer, arrival, start_);
  if (span_ != nullptr) reply_.set_trace(&span_->trace());
}

}  // namespace millrace::server
