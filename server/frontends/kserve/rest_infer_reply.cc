#include "server/frontends/kserve/rest_infer_reply.h"

#include <algorithm>
#include <variant>

namespace millrace::server {

void RestInferReply::Start(absl::StatusOr<Work> work) {
  HoldThis();
  const std::optional<absl::Status> end = run_.Begin(std::move(work), run_.Limit());
  if (end) Finish(*end);
}

RestInferReply::~RestInferReply() {
  absl::Status outcome;
  {
    MutexLock lock(mu_);
    outcome = abandoned_ || !end_ ? absl::CancelledError("the caller went away") : *end_;
  }
  run_.Record(outcome, [this] { return requester_; });
}

std::optional<absl::Status> RestInferReply::Wait(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  MutexLock lock(mu_);
  while (!end_ && changed_.WaitUntil(mu_, until)) {
  }
  return end_;
}

void RestInferReply::Abandon() {
  {
    MutexLock lock(mu_);
    if (std::exchange(abandoned_, true) || end_) return;
  }
  run_.Cancel();
}

void RestInferReply::Fail(const absl::Status& status) {
  MutexLock lock(mu_);
  end_ = status;
}

void RestInferReply::Emit(models::Output output) {
  output_ = std::get<models::InferOutput>(std::move(output));
}

void RestInferReply::Finish(const absl::Status& status) {
  const std::shared_ptr<RestInferReply> self = ReleaseThis();
  {
    MutexLock lock(mu_);
    end_ = status;
  }
  changed_.NotifyAll();
}

}  // namespace millrace::server
