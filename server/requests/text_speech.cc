#include "server/requests/text_speech.h"

#include <utility>

#include "models/core/errors.h"

namespace millrace::server {
namespace {

// The most audio of a piece; in base64 it still fits a WebSocket's frame that clients take.
constexpr size_t kMaxPieceBytes = size_t{32} << 10;

}  // namespace

TextSpeech::TextSpeech(Services& services, Method method, Requester requester,
                       std::function<void()> changed)
    : run_(services, method, *this, requester.caller.arrival),
      requester_(std::move(requester)),
      changed_(std::move(changed)),
      text_(run_, run_.Limit(/*streamed=*/true), *this),
      buffer_(services.scheduler, services.max_buffered_bytes) {
  run_.SetCaller(requester_.caller.key, requester_.caller.priority);
}

TextSpeech::~TextSpeech() {
  run_.Record(buffer_.Outcome(), [this] { return requester_; });
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
  const size_t bytes = piece.audio.size();
  buffer_.Push(std::move(piece), bytes);
}

void TextSpeech::OnEnd(const absl::Status& status) {
  const absl::Status end = OrInternal([&]() -> absl::Status {
    if (!status.ok()) return status;
    MILLRACE_ASSIGN_OR_RETURN(std::string rest, text_.FlushAudio());
    if (rest.empty()) return absl::OkStatus();
    SpokenPiece last;
    last.audio = std::move(rest);
    last.sentence_index = text_.sentences() == 0 ? 0 : text_.sentences() - 1;
    last.sentence_finished = true;
    last.begin = samples_;
    last.encoded_rate = text_.encoding().output_rate;
    Append(std::move(last));
    return absl::OkStatus();
  });
  const std::shared_ptr<TextSpeech> self = ReleaseThis();
  buffer_.End(end);
  changed_();
}

}  // namespace millrace::server
