#include "server/frontends/millrace/text_stream_call.h"

#include <algorithm>
#include <utility>

#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "server/frontends/grpc/message_codec.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxMessageCharacters = 5'000;
// A message is decoded on the polling thread. This is far above what so many characters and a
// config need.
constexpr size_t kMaxMessageBytes = 64 << 10;

}  // namespace

RpcService::Function TextStreamCall::Serving(Services& services) {
  return [&services](ByteCall& call) { Make(services, call).Start(); };
}

void TextStreamCall::Start() {
  call_.SetHandler(*this);
  services().streams.Add(*this);
  if (absl::Status status = Authenticate(services().keys, call_, Role::kUser); !status.ok())
    return text_.Fail(status);
  ReadOn();
}

void TextStreamCall::ReadOn() {
  if (!text_.WantsText() || reading_.exchange(true)) return;
  message_.Clear();
  call_.StartRead(&message_);
}

void TextStreamCall::OnReadDone(bool ok) {
  absl::Status status;
  if (ok) {
    status = OrInternal([this] { return Take(); });
  } else {
    // The client may also have cancelled, which is reported after this.
    text_.EndText();
  }
  reading_ = false;
  if (!status.ok()) return text_.Fail(status);
  ReadOn();
  text_.Advance();
}

absl::Status TextStreamCall::Take() {
  if (message_.size() > kMaxMessageBytes) {
    return absl::InvalidArgumentError(
        StrCat("text: the message has ", message_.size(), " bytes; at most ", kMaxMessageBytes,
               " are allowed, and ", kMaxMessageCharacters, " characters of text"));
  }
  v1::SynthesizeTextStreamRequest message;
  if (absl::Status status = ParseMessage(message_, message); !status.ok()) return status;
  if (message.has_config() == text_.configured()) {
    return absl::InvalidArgumentError(text_.configured() ? "config: is for the first message only"
                                                         : kConfigMissing);
  }
  if (message.has_config()) {
    if (absl::Status status = TakeConfig(std::move(*message.mutable_config())); !status.ok())
      return status;
  }
  if (const size_t characters = models::CountCodePoints(message.text());
      characters > kMaxMessageCharacters) {
    return absl::InvalidArgumentError(StrCat("text: has ", characters, " characters; at most ",
                                             kMaxMessageCharacters, " are allowed in a message"));
  }
  return text_.Push(message.text(), message.flush());
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
  return text_.Configure(*std::move(request));
}

absl::Status TextStreamCall::EmptyStream() const {
  return absl::InvalidArgumentError(
      text_.configured() ? "text: there is nothing to speak; it needs a letter or a digit"
                         : kConfigMissing);
}

void TextStreamCall::OnAudio(const std::string& bytes, models::SynthesizeOutput piece) {
  SendAudio(bytes, ToPiece(std::move(piece)));
}

void TextStreamCall::SendAudio(std::string_view bytes, SpeechPiece piece) {
  ForEachMessage(text_.encoding(), bytes, std::move(piece),
                 [this](const v1::StreamSynthesizeResponse& message) { stream_.Send(message); });
}

void TextStreamCall::OnEnd(const absl::Status& status) {
  stream_.End(OrInternal([&]() -> absl::Status {
    if (!status.ok()) return status;
    if (text_.sentences() == 0) return EmptyStream();
    const absl::StatusOr<std::string> rest = text_.FlushAudio();
    if (!rest.ok()) return rest.status();
    if (!rest->empty()) {
      SendAudio(*rest,
                {.sentence = static_cast<uint32_t>(text_.sentences() - 1), .sentence_ends = true});
    }
    return status;
  }));
}

void TextStreamCall::OnCancel() { text_.Fail(absl::CancelledError("the caller went away")); }

void TextStreamCall::OnDone() {
  services().streams.Remove(*this);
  stream_.Record();
  DeleteThis();
}

TimePoint TextStreamCall::waiting_since() const {
  const TimePoint reply = stream_.waiting_since();
  if (reply != TimePoint::max()) return reply;  // the client must read first
  const TimePoint text = text_.waiting_since();
  return text == TimePoint::max() ? text : std::max(text, stream_.last_progress());
}

}  // namespace millrace::server
