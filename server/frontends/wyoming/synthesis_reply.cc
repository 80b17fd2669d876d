#include "server/frontends/wyoming/synthesis_reply.h"

#include <algorithm>
#include <utility>

#include "server/frontends/wyoming/event.h"

namespace millrace::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kSampleBytes = 2;
// The most samples of an event, and the most events that are taken at once.
constexpr size_t kMaxChunkBytes = size_t{16} << 10;
constexpr size_t kMaxPieceBytes = size_t{64} << 10;

}  // namespace

SynthesisReply::SynthesisReply(Services& services, Kind kind, std::string address,
                               std::function<void()> changed)
    : run_(services, kind == Kind::kStreamed ? Method::kWyomingTextStream : Method::kWyomingSpeech,
           *this),
      kind_(kind),
      address_(std::move(address)),
      changed_(std::move(changed)),
      text_(run_, run_.start() + services.max_request_time, *this) {}

SynthesisReply::~SynthesisReply() {
  absl::Status outcome;
  {
    MutexLock lock(mu_);
    outcome = end_.value_or(absl::CancelledError("the caller went away"));
    // The work was done, but not all of it arrived.
    if (outcome.ok() && !delivered_) outcome = absl::CancelledError("the caller went away");
  }
  run_.Record(outcome, [this] {
    return Requester{.request_id = {}, .caller = {.address = address_, .key = {}}};
  });
}

void SynthesisReply::Start(absl::StatusOr<SpeechRequest> options) {
  HoldThis();
  const absl::Status status = OrInternal([&]() -> absl::Status {
    return options.ok() ? text_.Configure(*std::move(options)) : options.status();
  });
  if (!status.ok()) Fail(status);
}

bool SynthesisReply::TakeText(std::string_view text) {
  const absl::Status status = OrInternal([&] { return text_.Push(text, /*flush=*/false); });
  if (!status.ok()) Fail(status);
  return status.ok();
}

void SynthesisReply::Speak(std::string_view text) {
  if (TakeText(text)) EndText();
}

void SynthesisReply::Push(std::string_view text) {
  if (TakeText(text)) text_.Advance();
}

void SynthesisReply::EndText() {
  text_.EndText();
  text_.Advance();
}

void SynthesisReply::OnAudio(const std::string& bytes, models::SynthesizeOutput) {
  AppendAudio(bytes);
}

void SynthesisReply::AppendStart() {
  if (std::exchange(started_, true)) return;
  Append(SerializeEvent("audio-start", {{"rate", text_.encoding().output_rate},
                                        {"width", kSampleBytes},
                                        {"channels", 1},
                                        {"timestamp", 0}}));
}

void SynthesisReply::AppendAudio(std::string_view samples) {
  const auto rate = static_cast<size_t>(text_.encoding().output_rate);
  while (!samples.empty()) {
    AppendStart();
    const std::string_view chunk = samples.substr(0, kMaxChunkBytes);
    Append(SerializeEvent("audio-chunk",
                          {{"rate", rate},
                           {"width", kSampleBytes},
                           {"channels", 1},
                           {"timestamp", sent_bytes_ / kSampleBytes * 1000 / rate}},
                          chunk));
    sent_bytes_ += chunk.size();
    samples.remove_prefix(chunk.size());
  }
  changed_();
}

void SynthesisReply::Append(std::string event) {
  MutexLock lock(mu_);
  if (failed_) return;
  pending_bytes_ += event.size();
  pending_.push_back(std::move(event));
}

void SynthesisReply::OnEnd(const absl::Status& status) {
  const absl::Status end = OrInternal([&]() -> absl::Status {
    if (!status.ok()) return status;
    const absl::StatusOr<std::string> rest = text_.FlushAudio();
    if (!rest.ok()) return rest.status();
    AppendAudio(*rest);
    // A text with nothing to speak, as an assistant may write it, gives audio without samples: its
    // listener waits for the end of it.
    AppendStart();
    Append(SerializeEvent("audio-stop", {{"timestamp", nullptr}}));
    if (kind_ == Kind::kStreamed) Append(SerializeEvent("synthesize-stopped", {}));
    return absl::OkStatus();
  });
  const std::shared_ptr<SynthesisReply> self = ReleaseThis();
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

SynthesisReply::Piece SynthesisReply::Take() {
  Piece piece;
  std::unique_ptr<Job> resumed;
  {
    MutexLock lock(mu_);
    while (!pending_.empty() && (piece.events.empty() ||
                                 piece.events.size() + pending_.front().size() <= kMaxPieceBytes)) {
      pending_bytes_ -= pending_.front().size();
      piece.events += pending_.front();
      pending_.pop_front();
    }
    if (pending_.empty()) piece.end = end_;
    if (parked_ != nullptr && CaughtUp()) resumed = std::move(parked_);
  }
  if (resumed != nullptr) run_.services().scheduler.Requeue(std::move(resumed));
  return piece;
}

void SynthesisReply::Delivered() {
  MutexLock lock(mu_);
  delivered_ = true;
}

bool SynthesisReply::Congested() const {
  MutexLock lock(mu_);
  return pending_bytes_ > run_.services().max_buffered_bytes;
}

// Hysteresis: half empty before the next step, or a step would follow every piece.
bool SynthesisReply::CaughtUp() const {
  return pending_bytes_ <= run_.services().max_buffered_bytes / 2;
}

void SynthesisReply::Park(std::unique_ptr<Job> job) {
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

void SynthesisReply::DropParked() {
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
