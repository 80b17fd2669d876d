#include "server/frontends/millrace/text_stream_call.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "models/core/strings.h"
#include "models/speech/speech_units.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"
#include "server/frontends/grpc/message_codec.h"
#include "server/requests/text_field.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxMessageCharacters = 5'000;
// A message is decoded on the polling thread. This is far above what so many characters and a
// config need.
constexpr size_t kMaxMessageBytes = 64 << 10;
constexpr size_t kMaxCharacters = 1'000'000;
// The most text that waits to be spoken: more than a minute of speech.
constexpr size_t kMaxReadyBytes = 4'000;

// The characters that determine how a text ends: the marks and quotes at its end, and the white
// space behind them.
std::string EndOf(std::string_view text) {
  constexpr size_t kMarkBytes = 16;
  const size_t spoken = models::TrimRight(text).size();
  return std::string(text.substr(spoken - std::min(spoken, kMarkBytes)));
}

}  // namespace

RpcService::Function TextStreamCall::Serving(Services& services) {
  return [&services](ByteCall& call) { Make(services, call).Start(); };
}

void TextStreamCall::Start() {
  call_.SetHandler(*this);
  services().streams.Add(*this);
  if (absl::Status status = Authenticate(services().keys, call_, Role::kUser); !status.ok())
    return Fail(status);
  ReadOn();
}

void TextStreamCall::ReadOn() {
  {
    MutexLock lock(text_mu_);
    if (reading_ || ended_ || over_ || ready_.size() > kMaxReadyBytes) return;
    reading_ = true;
  }
  message_.Clear();
  call_.StartRead(&message_);
}

void TextStreamCall::OnReadDone(bool ok) {
  absl::Status status;
  if (ok) {
    status = OrInternal([this] { return Take(); });
  } else {
    // The client may also have cancelled, which is reported after this.
    MutexLock lock(text_mu_);
    ended_ = true;
    ready_ += sentences_in_.TakeRest();
  }
  {
    MutexLock lock(text_mu_);
    reading_ = false;
  }
  if (!status.ok()) return Fail(status);
  ReadOn();
  Advance();
}

absl::Status TextStreamCall::Take() {
  if (message_.size() > kMaxMessageBytes) {
    return absl::InvalidArgumentError(
        StrCat("text: the message has ", message_.size(), " bytes; at most ", kMaxMessageBytes,
               " are allowed, and ", kMaxMessageCharacters, " characters of text"));
  }
  v1::SynthesizeTextStreamRequest message;
  if (absl::Status status = ParseMessage(message_, message); !status.ok()) return status;
  if (message.has_config() == config_.has_value()) {
    return absl::InvalidArgumentError(config_ ? "config: is for the first message only"
                                              : "config: the first message must have it");
  }
  if (message.has_config()) {
    if (absl::Status status = TakeConfig(std::move(*message.mutable_config())); !status.ok())
      return status;
  }
  const size_t characters = models::CountCodePoints(message.text());
  if (!message.text().empty()) {
    if (absl::Status status = CheckText("text", message.text()); !status.ok()) return status;
    if (characters > kMaxMessageCharacters) {
      return absl::InvalidArgumentError(StrCat("text: has ", characters, " characters; at most ",
                                               kMaxMessageCharacters, " are allowed in a message"));
    }
  }
  const TimePoint now = services().clock.Now();
  if (now >= DeadlineOf(call_, run_))
    return absl::DeadlineExceededError("the call has lasted as long as one may");
  MutexLock lock(text_mu_);
  if (characters != 0 || message.flush()) last_text_ = now;
  characters_ += characters;
  if (absl::Status status = CheckTotal("text", characters_, kMaxCharacters); !status.ok())
    return status;
  ready_ += sentences_in_.Push(message.text());
  if (message.flush()) ready_ += sentences_in_.TakeRest();
  // Punctuation is spoken with the text that follows it, but it is not kept without limit.
  if (ready_.size() > kMaxReadyBytes && !speech::HasLetterOrDigit(ready_))
    characters_done_ += models::CountCodePoints(std::exchange(ready_, {}));
  return absl::OkStatus();
}

absl::Status TextStreamCall::TakeConfig(v1::SynthesizeRequest config) {
  if (!config.text().empty())
    return absl::InvalidArgumentError("config.text: must be empty; the text comes in 'text'");
  if (!config.phonemes().empty()) {
    return absl::InvalidArgumentError(
        "config.phonemes: must be empty; a stream is of text, phonemes go to StreamSynthesize");
  }
  auto request = ToSpeechRequest(std::move(config), models::AudioContainer::kStream);
  if (!request.ok()) return request.status();
  config_ = *std::move(request);
  // The config's errors are reported now, not when the first sentence has arrived.
  config_->text.assign(1, 'a');
  auto probe = MakeSpeechWork(*config_, models::AudioContainer::kStream, 1, services());
  if (!probe.ok()) return probe.status();
  audio_.Start(probe->encoding);
  return probe->work.model->model().Validate(probe->work.input);
}

void TextStreamCall::Advance(std::optional<absl::Status> job_end) {
  for (;;) {
    bool over = false;
    absl::Status status;
    {
      // The end of a job and what follows it are decided under one lock: in between, another thread
      // could end the call.
      MutexLock lock(text_mu_);
      if (job_end) EndJob(*std::exchange(job_end, std::nullopt));
      if (job_ != JobState::kNone || over_) return;
      if (!failure_.ok()) {
        status = failure_;
        over = over_ = true;
      } else if (speech::HasLetterOrDigit(ready_)) {
        config_->text = std::exchange(ready_, {});
        first_character_ = characters_done_;
        characters_done_ += models::CountCodePoints(config_->text);
        job_ = JobState::kBeingQueued;
      } else if (ended_) {
        status = EmptyStream();
        over = over_ = true;
      } else {
        return;
      }
    }
    if (over) return EndCall(status);
    ReadOn();
    const auto end = run_.Begin(OrInternal([this] { return MakeWork(); }), DeadlineOf(call_, run_));
    MutexLock lock(text_mu_);
    if (end) job_end_ = end;
    if (!job_end_) {
      job_ = JobState::kQueued;
      return;  // from here on another thread may end the call
    }
    job_end = std::exchange(job_end_, std::nullopt);
  }
}

absl::Status TextStreamCall::EmptyStream() const {
  if (!config_) return absl::InvalidArgumentError("config: the first message must have it");
  if (sentences_ > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "text: there is nothing to speak; it needs a letter or a digit");
}

void TextStreamCall::EndJob(const absl::Status& status) {
  job_ = JobState::kNone;
  last_text_ = services().clock.Now();
  if (failure_.ok()) failure_ = status;
}

absl::StatusOr<Work> TextStreamCall::MakeWork() {
  auto speech =
      MakeSpeechWork(*config_, models::AudioContainer::kStream, kMaxCharacters, services());
  if (!speech.ok()) return speech.status();
  if (speech->encoding.input_rate != audio_.encoding().input_rate) {
    return absl::FailedPreconditionError(
        StrCat("model '", config_->model, "' was replaced by one of another sample rate"));
  }
  first_sentence_ = sentences_;
  auto& input = std::get<models::SynthesizeInput>(speech->work.input);
  input.first_sentence = first_sentence_;
  input.part_of_text = true;
  const size_t leading = input.text.size() - models::TrimLeft(input.text).size();
  input.break_before = speech::BreakBehind(text_before_ + input.text.substr(0, leading));
  text_before_ = EndOf(input.text);
  return std::move(speech->work);
}

void TextStreamCall::Emit(models::Output output) {
  auto part = std::get<models::SynthesizeOutput>(std::move(output));
  const std::string bytes = audio_.Push(part, run_.metrics(), run_.elapsed());
  part.sentence_index += first_sentence_;
  sentences_ = std::max(sentences_, part.sentence_index + 1);
  for (models::SpokenSpan& word : part.words) word.character += first_character_;
  SendAudio(bytes, ToPiece(std::move(part)));
}

void TextStreamCall::SendAudio(std::string_view bytes, SpeechPiece piece) {
  ForEachMessage(audio_.encoding(), bytes, std::move(piece),
                 [this](const v1::StreamSynthesizeResponse& message) { stream_.Send(message); });
}

void TextStreamCall::EndCall(const absl::Status& status) {
  stream_.End(OrInternal([&]() -> absl::Status {
    if (!status.ok() || sentences_ == 0) return status;
    const absl::StatusOr<std::string> rest = audio_.Finish();
    if (!rest.ok()) return rest.status();
    if (!rest->empty())
      SendAudio(*rest, {.sentence = static_cast<uint32_t>(sentences_ - 1), .sentence_ends = true});
    return status;
  }));
}

void TextStreamCall::Finish(const absl::Status& status) {
  {
    MutexLock lock(text_mu_);
    if (job_ == JobState::kBeingQueued) {
      job_end_ = status;  // handled by the thread that queues it and still uses this object
      return;
    }
  }
  Advance(status);
}

void TextStreamCall::Fail(const absl::Status& status) {
  bool queued = false;
  {
    MutexLock lock(text_mu_);
    if (over_ || !failure_.ok()) return;
    failure_ = status;  // no other job begins after it
    queued = job_ == JobState::kQueued;
  }
  Cancel();  // also stops a job that is being queued
  if (queued) run_.Cancel();
  stream_.DropParked();
  Advance();
}

void TextStreamCall::OnCancel() { Fail(absl::CancelledError("the caller went away")); }

void TextStreamCall::OnDone() {
  services().streams.Remove(*this);
  stream_.Record();
  DeleteThis();
}

TimePoint TextStreamCall::waiting_since() const {
  const TimePoint reply = stream_.waiting_since();
  if (reply != TimePoint::max()) return reply;  // the client must read first
  const TimePoint written = stream_.last_progress();
  MutexLock lock(text_mu_);
  if (job_ != JobState::kNone || over_ || ended_) return TimePoint::max();
  return std::max(last_text_, written);
}

}  // namespace millrace::server
