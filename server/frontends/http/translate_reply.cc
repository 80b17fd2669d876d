#include "server/frontends/http/translate_reply.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace millrace::server {

void TranslateReply::Start(absl::StatusOr<Works> works) {
  if (!works.ok()) {
    HoldThis();
    return Finish(works.status());
  }
  works_ = *std::move(works);
  texts_ = std::move(works_.front().texts);
  size_t alternatives = 0;
  for (const TranslationWork& work : works_)
    alternatives = std::max(alternatives, work.alternatives);
  results_.emplace(texts_.size(), alternatives);
  StartNext();
}

void TranslateReply::StartNext() {
  HoldThis();
  bool queued = false;  // if true, a worker may have ended it already
  const absl::Status status = OrInternal([&]() -> absl::Status {
    while (started_ < works_.size()) {
      TranslationWork& work = works_[started_++];
      for (size_t i = 0; i < work.unchanged.size(); ++i)
        results_->Add({.text_index = work.places[i], .text = std::move(work.unchanged[i])});
      if (work.work.model == nullptr) continue;
      progress_ = TranslationProgress();
      progress_.Start(work);
      absl::Status submitted = run_.Submit(std::move(work.work), run_.Limit());
      queued = submitted.ok();
      return submitted;
    }
    return absl::OkStatus();
  });
  if (!queued) Finish(status);
}

TranslateReply::~TranslateReply() {
  absl::Status outcome;
  {
    MutexLock lock(mu_);
    outcome = abandoned_ || !end_ ? absl::CancelledError("the caller went away") : *end_;
  }
  run_.Record(outcome, [this] { return requester_; });
}

std::optional<absl::Status> TranslateReply::Wait(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  {
    MutexLock lock(mu_);
    while (!end_ && parts_.empty() && changed_.WaitUntil(mu_, until)) {
    }
    if (!end_ || !end_->ok() || started_ == works_.size()) return end_;
    end_.reset();
  }
  StartNext();
  return std::nullopt;
}

void TranslateReply::Abandon() {
  {
    MutexLock lock(mu_);
    if (std::exchange(abandoned_, true) || end_) return;
  }
  run_.Cancel();
}

std::vector<TranslateReply::Part> TranslateReply::TakeParts() {
  MutexLock lock(mu_);
  return std::exchange(parts_, {});
}

void TranslateReply::Emit(models::Output output) {
  models::TranslateOutput part =
      progress_.Take(std::get<models::TranslateOutput>(std::move(output)));
  if (form_ == Form::kParts) {
    {
      MutexLock lock(mu_);
      parts_.push_back({part.text_index, part.text, part.sentence_finished, part.text_finished});
    }
    changed_.NotifyAll();
  }
  results_->Add(std::move(part));
}

void TranslateReply::Finish(const absl::Status& status) {
  const std::shared_ptr<TranslateReply> self = ReleaseThis();
  {
    MutexLock lock(mu_);
    end_ = status;
  }
  changed_.NotifyAll();
}

}  // namespace millrace::server
