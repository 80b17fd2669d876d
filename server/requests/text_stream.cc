#include "server/requests/text_stream.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "models/core/errors.h"
#include "models/speech/speech_units.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"
#include "server/requests/speech_names.h"
#include "server/requests/text_field.h"

namespace millrace::server {
namespace {

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

absl::StatusOr<models::AudioEncoderOptions> CheckStreamOptions(SpeechRequest options,
                                                               const Services& services) {
  options.text.assign(1, '1');  // every language reads digits, and not all read Latin letters
  options.text_format = SpeechTextFormat::kPlain;
  MILLRACE_ASSIGN_OR_RETURN(
      auto probe, MakeSpeechWork(std::move(options), models::AudioContainer::kStream, 1, services));
  MILLRACE_RETURN_IF_ERROR(probe.work.model->model().Validate(probe.work.input));
  return probe.encoding;
}

absl::Status TextStream::Configure(SpeechRequest config) {
  // All of the stream is spoken by the model that is chosen now.
  const SpeechNames names(services().models, services().voice_aliases);
  MILLRACE_RETURN_IF_ERROR(names.Resolve(config));
  config_ = std::move(config);
  MILLRACE_ASSIGN_OR_RETURN(const auto encoding, CheckStreamOptions(*config_, services()));
  audio_.Start(encoding);
  return absl::OkStatus();
}

absl::Status TextStream::Push(std::string_view text, bool flush) {
  if (!text.empty()) {
    MILLRACE_RETURN_IF_ERROR(CheckText("text", text));
  }
  const size_t characters = models::CountCodePoints(text);
  const TimePoint now = services().clock.Now();
  if (now >= limit_.last)
    return absl::DeadlineExceededError("the call has lasted as long as one may");
  MutexLock lock(text_mu_);
  if (characters != 0 || flush) last_text_ = now;
  characters_ += characters;
  const size_t most = is_document() ? kMaxStreamCharacters : kMaxCharacters;
  MILLRACE_RETURN_IF_ERROR(CheckTotal("text", characters_, most));
  if (is_document()) {
    if (flush) return InvalidArgument("flush: is not allowed with SSML, a document is whole");
    ready_ += text;
    return absl::OkStatus();
  }
  ready_ += TakeEnded(text, flush);
  // Punctuation is spoken with the text that follows it, but it is not kept without limit.
  if (ready_.size() > kMaxReadyBytes && !speech::HasLetterOrDigit(ready_)) TakeReady();
  return absl::OkStatus();
}

std::string TextStream::TakeEnded(std::string_view text, bool flush) {
  std::string ended = is_fragment() ? ssml_in_.Push(text) : sentences_in_.Push(text);
  if (flush) ended += is_fragment() ? ssml_in_.TakeWhole() : sentences_in_.TakeRest();
  return ended;
}

std::string TextStream::TakeReady() {
  characters_done_ += models::CountCodePoints(ready_);
  ready_place_ = speech::PlaceBehind(ready_, ready_place_);
  return std::exchange(ready_, {});
}

void TextStream::EndText() {
  MutexLock lock(text_mu_);
  ended_ = true;
  ready_ += is_fragment() ? ssml_in_.TakeRest() : sentences_in_.TakeRest();
}

void TextStream::Advance(std::optional<absl::Status> job_end) {
  for (;;) {
    bool over = false;
    absl::Status status;
    {
      // The end of a job and what follows it are decided under one lock: in between, another thread
      // could end the stream.
      MutexLock lock(text_mu_);
      if (job_end) EndJob(*std::exchange(job_end, std::nullopt));
      if (job_ != JobState::kNone || over_) return;
      if (!failure_.ok()) {
        status = failure_;
        over = over_ = true;
      } else if ((ended_ || !is_document()) && speech::HasLetterOrDigit(ready_)) {
        first_character_ = characters_done_;
        config_->begin = ready_place_;
        config_->text = TakeReady();
        job_ = JobState::kBeingQueued;
      } else if (ended_) {
        over = over_ = true;
      } else {
        return;
      }
    }
    if (over) return listener_.OnEnd(status);
    listener_.OnTextWanted();
    const auto end = run_.Begin(OrInternal([this] { return MakeWork(); }), NextLimit());
    MutexLock lock(text_mu_);
    if (end) job_end_ = end;
    if (!job_end_) {
      job_ = JobState::kQueued;
      return;  // from here on another thread may end the stream
    }
    job_end = std::exchange(job_end_, std::nullopt);
  }
}

void TextStream::EndJob(const absl::Status& status) {
  job_ = JobState::kNone;
  last_text_ = services().clock.Now();
  if (failure_.ok()) failure_ = status;
}

absl::StatusOr<Work> TextStream::MakeWork() {
  auto speech =
      MakeSpeechWork(*config_, models::AudioContainer::kStream, kMaxCharacters, services());
  if (!speech.ok()) return speech.status();
  config_->manner = std::move(speech->manner_after);
  if (speech->encoding.input_rate != audio_.encoding().input_rate) {
    return FailedPrecondition("model '", config_->model,
                              "' was replaced by one of another sample rate");
  }
  first_sentence_ = sentences_;
  auto& input = std::get<models::SynthesizeInput>(speech->work.input);
  // Markup may stand alone.
  const SpeechTextFormat format = config_->text_format;
  if ((format == SpeechTextFormat::kTags || format == SpeechTextFormat::kSsmlFragment) &&
      !speech::HasLetterOrDigit(input.text) && input.markup.pause_after == 0) {
    break_before_ = std::max(break_before_, speech->break_after);
    return Work();
  }
  input.first_sentence = first_sentence_;
  input.part_of_text = !is_document();
  const size_t leading = input.text.size() - models::TrimLeft(input.text).size();
  input.break_before = speech::BreakBehind(text_before_ + input.text.substr(0, leading));
  const models::SpeechBreak least = std::exchange(break_before_, speech->break_after);
  if (input.break_before != models::SpeechBreak::kNone)
    input.break_before = std::max(input.break_before, least);
  // The pause that ended the text before is in place of the usual one.
  if (std::exchange(paused_, input.markup.pause_after > 0))
    input.break_before = models::SpeechBreak::kNone;
  text_before_ = EndOf(input.text);
  return std::move(speech->work);
}

void TextStream::Emit(models::Output output) {
  auto part = std::get<models::SynthesizeOutput>(std::move(output));
  const std::string bytes = audio_.Push(part, run_);
  part.sentence_index += first_sentence_;
  sentences_ = std::max(sentences_, part.sentence_index + 1);
  for (models::SpokenSpan& word : part.words) word.character += first_character_;
  listener_.OnAudio(bytes, std::move(part));
}

void TextStream::OnJobEnd(const absl::Status& status) {
  {
    MutexLock lock(text_mu_);
    if (job_ == JobState::kBeingQueued) {
      job_end_ = status;  // handled by the thread that queues it and still uses this object
      return;
    }
  }
  Advance(status);
}

void TextStream::Fail(const absl::Status& status) {
  bool queued = false;
  {
    MutexLock lock(text_mu_);
    if (over_ || !failure_.ok()) return;
    failure_ = status;  // no other job begins after it
    queued = job_ == JobState::kQueued;
  }
  run_.reply().Cancel();  // also stops a job that is being queued
  if (queued) run_.Cancel();
  listener_.DropParked();
  Advance();
}

bool TextStream::WantsText() const {
  MutexLock lock(text_mu_);
  return !ended_ && !over_ && (ready_.size() <= kMaxReadyBytes || is_document());
}

models::TimeLimit TextStream::NextLimit() const {
  models::TimeLimit limit = limit_;
  limit.deadline = std::min(limit.last, services().clock.Now() + limit.patience);
  return limit;
}

TimePoint TextStream::deadline() const {
  const TimePoint waiting = waiting_since();
  return waiting == TimePoint::max() ? limit_.last
                                     : std::min(limit_.last, waiting + limit_.patience);
}

TimePoint TextStream::waiting_since() const {
  MutexLock lock(text_mu_);
  return job_ != JobState::kNone || over_ || ended_ ? TimePoint::max() : last_text_;
}

}  // namespace millrace::server
