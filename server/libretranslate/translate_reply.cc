#include "server/libretranslate/translate_reply.h"

#include <variant>

namespace millrace::server {

void TranslateReply::Start(absl::StatusOr<TranslationWork> work) {
  self_ = shared_from_this();
  if (!work.ok()) return Finish(work.status());
  results_.emplace(work->texts.size(), work->alternatives);
  for (size_t i = 0; i < work->unchanged.size(); ++i)
    results_->Add({.text_index = work->places[i], .text = std::move(work->unchanged[i])});
  progress_.Start(*work);
  if (work->work.model == nullptr) return Finish(absl::OkStatus());
  const absl::Status status = Submit(std::move(work->work), start() + services().max_request_time);
  // Once it is queued, a worker may have ended it already.
  if (!status.ok()) Finish(status);
}

TranslateReply::~TranslateReply() {
  absl::Status outcome;
  {
    MutexLock lock(mu_);
    outcome = abandoned_ || !end_ ? absl::CancelledError("the caller went away") : *end_;
  }
  Record(outcome);
}

std::optional<absl::Status> TranslateReply::Wait(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  MutexLock lock(mu_);
  while (!end_ && changed_.WaitUntil(mu_, until)) {
  }
  return end_;
}

void TranslateReply::Abandon() {
  {
    MutexLock lock(mu_);
    if (std::exchange(abandoned_, true) || end_) return;
  }
  CancelWork();
}

void TranslateReply::Emit(models::Output output) {
  auto part = progress_.Take(std::get<models::TranslateOutput>(std::move(output)));
  if (part) results_->Add(*std::move(part));
}

void TranslateReply::Finish(const absl::Status& status) {
  absl::Status result = status;
  if (result.ok() && SubmitNext(progress_.Next(), result)) return;
  const std::shared_ptr<TranslateReply> self = std::move(self_);
  {
    MutexLock lock(mu_);
    end_ = result;
  }
  changed_.NotifyAll();
}

}  // namespace millrace::server
