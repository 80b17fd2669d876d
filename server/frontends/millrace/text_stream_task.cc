#include "server/frontends/millrace/text_stream_task.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "server/frontends/grpc/message_codec.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxMessageCharacters = 5'000;
constexpr char kConfigMissing[] = "config: the first message must have it";

void Send(std::string_view bytes, SpeechPiece piece, const TextStream& text, ReplyStream& stream) {
  ForEachMessage(text.encoding(), bytes, std::move(piece),
                 [&stream](const v1::StreamSynthesizeResponse& message) { stream.Send(message); });
}

}  // namespace

absl::Status SynthesizeTextStreamTask::Take(const ByteBuffer& buffer, const Services&,
                                            TextStream& text) {
  v1::SynthesizeTextStreamRequest message;
  if (absl::Status status = ParseMessage(buffer, message); !status.ok()) return status;
  if (message.has_config() == text.configured()) {
    return absl::InvalidArgumentError(text.configured() ? "config: is for the first message only"
                                                        : kConfigMissing);
  }
  if (message.has_config()) {
    absl::Status status = TakeConfig(std::move(*message.mutable_config()), text);
    if (!status.ok()) return status;
  }
  if (const size_t characters = models::CountCodePoints(message.text());
      characters > kMaxMessageCharacters) {
    return absl::InvalidArgumentError(StrCat("text: has ", characters, " characters; at most ",
                                             kMaxMessageCharacters, " are allowed in a message"));
  }
  return text.Push(message.text(), message.flush());
}

absl::Status SynthesizeTextStreamTask::TakeConfig(v1::SynthesizeRequest config, TextStream& text) {
  if (!config.text().empty())
    return absl::InvalidArgumentError("config.text: must be empty; the text comes in 'text'");
  if (!config.phonemes().empty()) {
    return absl::InvalidArgumentError(
        "config.phonemes: must be empty; a stream is of text, phonemes go to StreamSynthesize");
  }
  auto request = ToSpeechRequest(std::move(config), models::AudioContainer::kStream);
  if (!request.ok()) return request.status();
  return text.Configure(*std::move(request));
}

absl::Status SynthesizeTextStreamTask::EmptyStream(const TextStream& text) const {
  return absl::InvalidArgumentError(
      text.configured() ? "text: there is nothing to speak; it needs a letter or a digit"
                        : kConfigMissing);
}

void SynthesizeTextStreamTask::SendAudio(std::string_view bytes, models::SynthesizeOutput piece,
                                         const TextStream& text, ReplyStream& stream) {
  Send(bytes, ToPiece(std::move(piece)), text, stream);
}

void SynthesizeTextStreamTask::SendRest(std::string_view bytes, const TextStream& text,
                                        ReplyStream& stream) {
  Send(bytes, {.sentence = static_cast<uint32_t>(text.sentences() - 1), .sentence_ends = true},
       text, stream);
}

}  // namespace millrace::server
