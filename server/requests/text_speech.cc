#include "server/requests/text_speech.h"

#include <utility>

namespace millrace::server {
namespace {

// The most audio of a piece; in base64 it still fits a WebSocket's frame that clients take.
constexpr size_t kMaxPieceBytes = size_t{32} << 10;

// Returns the time of speech that is heard while it is made.
models::TimeLimit StreamLimit(const RequestRun& run) {
  models::TimeLimit limit(run.start() + run.services().max_request_time);
  limit.patience = run.services().max_request_time;
  return limit;
}

}  // namespace

TextSpeech::TextSpeech(Services& services, Method method, Requester requester,
                       std::function<void()> changed)
    : run_(services, method, *this, requester.caller.arrival),
      requester_(std::move(requester)),
      changed_(std::move(changed)),
      text_(run_, StreamLimit(run_), *this) {
  run_.SetCaller(requester_.caller.key, requester_.caller.priority);
}

TextSpeech::~TextSpeech() {
  absl::Status outcome;
  {
    MutexLock lock(mu_);
    outcome = end_.value_or(absl::CancelledError("the caller went away"));
    // The work was done, but not all of it arrived.
    if (outcome.ok() && !delivered_) outcome = absl::CancelledError("the caller went away");
  }
  run_.Record(outcome, [this] { return requester_; });
}

void TextSpeech::Start(absl::StatusOr<SpeechRequest> options) {
  HoldThis();
  const absl::Status status = OrInternal([&]() -> absl::Status {
    return options.ok() ? text_.Configure(*std::move(options)) : options.status();
  });
  if (!status.ok()) Fail(status);
}

bool TextSpeech::TakeText(std::string_view text, bool flush) {
  const absl::Status status = OrInternal([&] { return text_.Push(text, flush); });
  if (!status.ok()) Fail(status);
  return status.ok();
}

void TextSpeech::Speak(std::string_view text) {
  if (TakeText(text, /*flush=*/false)) EndText();
}

void TextSpeech::Push(std::string_view text, bool flush) {
  if (TakeText(text, flush)) text_.Advance();
}

void TextSpeech::EndText() {
  text_.EndText();
  text_.Advance();
}

void TextSpeech::OnAudio(const std::string& bytes, models::SynthesizeOutput piece) {
  SpokenPiece next;
  next.text = std::move(piece.text);
  next.words = std::move(piece.words);
  next.sentence_index = piece.sentence_index;
  next.sample_rate = piece.sample_rate;
  next.begin = samples_;
  next.encoded_rate = text_.encoding().output_rate;
  samples_ += static_cast<int64_t>(piece.samples.size());
  std::string_view audio = bytes;
  while (audio.size() > kMaxPieceBytes) {
    next.audio = audio.substr(0, kMaxPieceBytes);
    audio.remove_prefix(kMaxPieceBytes);
    SpokenPiece rest;
    rest.sentence_index = next.sentence_index;
    rest.sample_rate = next.sample_rate;
    rest.begin = next.begin;
    rest.encoded_rate = next.encoded_rate;
    Append(std::exchange(next, std::move(rest)));
  }
  next.audio = audio;
  next.sentence_finished = piece.sentence_finished;
  Append(std::move(next));
  changed_();
}

void TextSpeech::Append(SpokenPiece piece) {
  MutexLock lock(mu_);
  if (failed_) return;
  pending_bytes_ += piece.audio.size();
  pending_.push_back(std::move(piece));
}

void TextSpeech::OnEnd(const absl::Status& status) {
  const absl::Status end = OrInternal([&]() -> absl::Status {
    if (!status.ok()) return status;
    absl::StatusOr<std::string> rest = text_.FlushAudio();
    if (!rest.ok()) return rest.status();
    if (rest->empty()) return absl::OkStatus();
    SpokenPiece last;
    last.audio = *std::move(rest);
    last.sentence_index = text_.sentences() == 0 ? 0 : text_.sentences() - 1;
    last.sentence_finished = true;
    last.begin = samples_;
    last.encoded_rate = text_.encoding().output_rate;
    Append(std::move(last));
    return absl::OkStatus();
  });
  const std::shared_ptr<TextSpeech> self = ReleaseThis();
  {
    MutexLock lock(mu_);
    end_ = end;
    // An error need not wait behind audio that the client has not taken.
    if (!end.ok()) {
      pending_.clear();
      pending_bytes_ = 0;
    }
  }
  changed_();
}

std::optional<SpokenPiece> TextSpeech::Take() {
  std::optional<SpokenPiece> piece;
  std::unique_ptr<Job> resumed;
  {
    MutexLock lock(mu_);
    if (!pending_.empty()) {
      piece = std::move(pending_.front());
      pending_.pop_front();
      pending_bytes_ -= piece->audio.size();
    }
    if (parked_ != nullptr && CaughtUp()) resumed = std::move(parked_);
  }
  if (resumed != nullptr) run_.services().scheduler.Requeue(std::move(resumed));
  return piece;
}

std::optional<absl::Status> TextSpeech::end() const {
  MutexLock lock(mu_);
  return pending_.empty() ? end_ : std::nullopt;
}

bool TextSpeech::has_output() const {
  MutexLock lock(mu_);
  return !pending_.empty() || end_;
}

void TextSpeech::Delivered() {
  MutexLock lock(mu_);
  delivered_ = true;
}

bool TextSpeech::Congested() const {
  MutexLock lock(mu_);
  return pending_bytes_ > run_.services().max_buffered_bytes;
}

// Hysteresis: half empty before the next step, or a step would follow every piece.
bool TextSpeech::CaughtUp() const {
  return pending_bytes_ <= run_.services().max_buffered_bytes / 2;
}

void TextSpeech::Park(std::unique_ptr<Job> job) {
  Scheduler& scheduler = run_.services().scheduler;
  {
    MutexLock lock(mu_);
    // The client may have caught up, or the request failed, since Congested was asked; then nobody
    // would wake the job.
    if (!CaughtUp() && !failed_) {
      parked_ = std::move(job);
      return;
    }
  }
  scheduler.Requeue(std::move(job));
}

void TextSpeech::DropParked() {
  std::unique_ptr<Job> parked;
  {
    MutexLock lock(mu_);
    failed_ = true;
    parked = std::move(parked_);
  }
  if (parked != nullptr) {
    const absl::Status why = StopStatus(parked->request);
    FinishJob(std::move(parked), why);
  }
}

}  // namespace millrace::server
