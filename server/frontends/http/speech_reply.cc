#include "server/frontends/http/speech_reply.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "models/core/strings.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxPiece = 64 << 10;

}  // namespace

void SpeechReply::Start(absl::StatusOr<SpeechWork> work, std::unique_ptr<SpeechFramer> framer) {
  framer_ = std::move(framer);
  HoldThis();
  if (work.ok()) audio_.Start(work->encoding);
  models::TimeLimit limit(run_.start() + run_.services().max_request_time);
  if (framer_ == nullptr || !framer_->whole()) limit.patience = run_.services().max_request_time;
  const std::optional<absl::Status> end =
      work.ok() ? run_.Begin(std::move(work->work), limit) : work.status();
  if (end) Finish(*end);
}

SpeechReply::~SpeechReply() {
  absl::Status outcome;
  {
    MutexLock lock(mu_);
    outcome = end_.value_or(absl::CancelledError("the caller went away"));
    // The work was done, but not all of it arrived.
    if (outcome.ok() && !delivered_) outcome = absl::CancelledError("the caller went away");
  }
  run_.Record(outcome, [this] { return requester_; });
}

void SpeechReply::Emit(models::Output output) {
  auto& piece = std::get<models::SynthesizeOutput>(output);
  if (too_long_) return;
  const std::string audio = audio_.Push(piece, run_);
  Append(framer_ != nullptr ? framer_->Push(piece, audio) : audio);
  // An answer that is sent as a whole is kept in memory until it is complete.
  if (framer_ != nullptr && framer_->whole() && audio_.plain_bytes() > kMaxWholeAudioBytes) {
    too_long_ = true;
    Cancel();
  }
}

void SpeechReply::Append(std::string_view bytes) {
  if (bytes.empty()) return;
  {
    MutexLock lock(mu_);
    if (abandoned_) return;
    pending_ += bytes;
  }
  changed_.NotifyAll();
}

void SpeechReply::Finish(const absl::Status& result) {
  const absl::Status status = OrInternal([&]() -> absl::Status {
    if (too_long_) {
      return absl::InvalidArgumentError(
          StrCat("text: its speech is longer than one object may hold, ", kMaxWholeAudioBytes >> 20,
                 " MiB; ask for a stream of them"));
    }
    if (!result.ok()) return result;
    const absl::StatusOr<std::string> rest = audio_.Flush();
    if (rest.ok()) Append(framer_ != nullptr ? framer_->Close(*rest, audio_.seconds()) : *rest);
    return rest.status();
  });
  const std::shared_ptr<SpeechReply> self = ReleaseThis();
  {
    MutexLock lock(mu_);
    end_ = status;
    // An error does not wait behind audio that the client has not taken.
    if (!status.ok()) pending_.clear();
  }
  changed_.NotifyAll();
}

SpeechReply::Piece SpeechReply::Take(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  Piece piece;
  std::unique_ptr<Job> resumed;
  {
    MutexLock lock(mu_);
    while (pending_.empty() && !end_ && changed_.WaitUntil(mu_, until)) {
    }
    if (pending_.size() <= kMaxPiece) {
      piece.bytes = std::exchange(pending_, {});
    } else {
      piece.bytes = pending_.substr(0, kMaxPiece);
      pending_.erase(0, kMaxPiece);
    }
    if (pending_.empty()) piece.end = end_;
    if (parked_ != nullptr && CaughtUp()) resumed = std::move(parked_);
  }
  if (resumed != nullptr) run_.services().scheduler.Requeue(std::move(resumed));
  return piece;
}

void SpeechReply::Delivered() {
  MutexLock lock(mu_);
  delivered_ = true;
}

void SpeechReply::Abandon() {
  {
    MutexLock lock(mu_);
    if (std::exchange(abandoned_, true) || end_) return;
    pending_ = std::string();
  }
  // This precedes the look for the parked job, because Park reads `abandoned_`.
  run_.Cancel();
  std::unique_ptr<Job> parked;
  {
    MutexLock lock(mu_);
    parked = std::move(parked_);
  }
  if (parked != nullptr) {
    const absl::Status why = StopStatus(parked->request);
    FinishJob(std::move(parked), why);
  }
}

bool SpeechReply::Congested() const {
  MutexLock lock(mu_);
  return pending_.size() > run_.services().max_buffered_bytes;
}

// The buffer must be half empty before the next step (hysteresis), or a step would follow every
// piece.
bool SpeechReply::CaughtUp() const {
  return pending_.size() <= run_.services().max_buffered_bytes / 2;
}

void SpeechReply::Park(std::unique_ptr<Job> job) {
  Scheduler& scheduler = run_.services().scheduler;
  {
    MutexLock lock(mu_);
    // The client may have caught up or left since Congested was called; then nothing would resume
    // the job.
    if (!CaughtUp() && !abandoned_) {
      parked_ = std::move(job);
      return;
    }
  }
  scheduler.Requeue(std::move(job));
}

}  // namespace millrace::server
