#include "server/requests/pivot_pipeline.h"

#include <optional>
#include <utility>
#include <variant>

#include "models/core/errors.h"
#include "server/requests/or_internal.h"

namespace millrace::server {
namespace {

models::TranslateOutput TakePart(const ServedModel& model, models::Output output) {
  auto part = std::get<models::TranslateOutput>(std::move(output));
  model.metrics().CountTokens(part.source_tokens, part.target_tokens);
  return part;
}

}  // namespace

PivotPipeline::PivotPipeline(const Services& services, Models models, PivotSentences sentences,
                             size_t fewest)
    : services_(services),
      models_(std::move(models)),
      fewest_(fewest),
      sentences_(std::move(sentences)) {}

Reply& PivotPipeline::Begin(Reply& reply, TimePoint deadline, const FairShare& share) {
  reply_ = &reply;
  first_stage_.set_trace(reply.trace());
  second_stage_.set_trace(reply.trace());
  deadline_ = deadline;
  share_ = share;
  // It is loaded while the first model works.
  if (!models_.second->loaded()) services_.scheduler.Want(models_.second->queue());
  return first_stage_;
}

void PivotPipeline::EndWaiting() {
  std::unique_ptr<Job> jobs[] = {
      services_.scheduler.Remove(models_.first->queue(), first_stage_),
      services_.scheduler.Remove(models_.second->queue(), second_stage_)};
  // Each job taken out here keeps the request from ending.
  for (std::unique_ptr<Job>& job : jobs) {
    if (job == nullptr) continue;
    const absl::Status why = StopStatus(job->request);
    FinishJob(std::move(job), why);
  }
}

void PivotPipeline::FirstStage::Emit(models::Output output) {
  PivotPipeline& pipeline = pipeline_;
  models::TranslateOutput part = TakePart(*pipeline.models_.first, std::move(output));
  {
    MutexLock lock(pipeline.mu_);
    pipeline.sentences_.Add(std::move(part));
    if (pipeline.second_busy_ || !pipeline.MayBeginSecond()) return;
    pipeline.second_busy_ = true;
  }
  pipeline.RunSecond();
}

void PivotPipeline::FirstStage::Finish(const absl::Status& status) {
  PivotPipeline& pipeline = pipeline_;
  if (!status.ok()) pipeline.Fail(status);
  {
    MutexLock lock(pipeline.mu_);
    pipeline.first_ended_ = true;
    if (pipeline.second_busy_) return;
    pipeline.second_busy_ = true;
  }
  pipeline.RunSecond();
}

void PivotPipeline::SecondStage::Emit(models::Output output) {
  models::TranslateOutput part = TakePart(*pipeline_.models_.second, std::move(output));
  {
    MutexLock lock(pipeline_.mu_);
    part = pipeline_.sentences_.Attribute(std::move(part));
  }
  pipeline_.reply_->Emit(std::move(part));
}

void PivotPipeline::SecondStage::Finish(const absl::Status& status) {
  PivotPipeline& pipeline = pipeline_;
  if (!status.ok()) pipeline.Fail(status);
  pipeline.RunSecond();
}

bool PivotPipeline::SecondStage::Congested() const { return pipeline_.reply_->Congested(); }

void PivotPipeline::SecondStage::Park(std::unique_ptr<Job> job) {
  pipeline_.reply_->Park(std::move(job));
}

bool PivotPipeline::MayBeginSecond() const {
  if (!status_.ok()) return false;
  return first_ended_ ? sentences_.waiting() != 0 : sentences_.translated() >= fewest_;
}

void PivotPipeline::RunSecond() {
  for (;;) {
    std::optional<absl::Status> end;
    {
      MutexLock lock(mu_);
      if (!MayBeginSecond()) {
        second_busy_ = false;
        if (!first_ended_) return;
        end = status_;
      }
    }
    if (end) return reply_->Finish(*end);
    auto job = OrInternal([this] { return MakeSecondJob(); });
    if (!job.ok()) {
      Fail(job.status());
    } else if (*job != nullptr) {
      // Only the first job waits for its turn as newcomers do.
      const bool is_newcomer = !std::exchange(second_begun_, true);
      if (reply_->Congested()) return reply_->Park(*std::move(job));
      Scheduler& scheduler = services_.scheduler;
      return is_newcomer ? scheduler.Enter(*std::move(job)) : scheduler.Requeue(*std::move(job));
    }
  }
}

absl::StatusOr<std::unique_ptr<Job>> PivotPipeline::MakeSecondJob() {
  if (second_stage_.cancelled()) return absl::CancelledError("the caller went away");
  PivotSentences::Batch batch;
  {
    MutexLock lock(mu_);
    batch = sentences_.Take();
  }
  for (models::TranslateOutput& done : batch.done) reply_->Emit(std::move(done));
  if (batch.input.texts.empty()) return nullptr;
  models::Input input = std::move(batch.input);
  const models::Model& model = models_.second->model();
  MILLRACE_RETURN_IF_ERROR(model.Validate(input));
  auto job = std::make_unique<Job>(std::move(input), deadline_, second_stage_, models_.second,
                                   services_.clock, share_);
  job->checked_by = &model;
  return job;
}

void PivotPipeline::Fail(const absl::Status& status) {
  {
    MutexLock lock(mu_);
    if (!status_.ok()) return;
    status_ = status;
  }
  first_stage_.Cancel();
  second_stage_.Cancel();
  EndWaiting();
}

}  // namespace millrace::server
