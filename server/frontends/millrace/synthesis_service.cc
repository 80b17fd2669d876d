#include "server/frontends/millrace/synthesis_service.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "server/frontends/grpc/message_codec.h"
#include "server/frontends/grpc/stream_call.h"
#include "server/frontends/grpc/text_stream_call.h"
#include "server/frontends/grpc/unary_call.h"
#include "server/frontends/millrace/speech_messages.h"
#include "server/requests/speech_audio.h"
#include "server/requests/speech_request.h"
#include "server/requests/text_stream.h"
#include "server/requests/unread_scripts.h"
#include "server/requests/whole_speech.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxMessageCharacters = 5'000;
constexpr char kConfigMissing[] = "config: the first message must have it";

// Returns the message of audio that was left when a sentence had ended.
v1::StreamSynthesizeResponse RestOf(size_t sentence) {
  v1::StreamSynthesizeResponse message;
  message.set_sentence_index(static_cast<uint32_t>(sentence));
  message.set_sentence_finished(true);
  return message;
}

absl::StatusOr<SpeechWork> DecodeSynthesize(const ByteBuffer& buffer, const Services& services,
                                            models::AudioContainer container,
                                            size_t max_characters) {
  v1::SynthesizeRequest message;
  MILLRACE_RETURN_IF_ERROR(ParseMessage(buffer, message));
  MILLRACE_ASSIGN_OR_RETURN(auto request, ToSpeechRequest(std::move(message), container));
  return MakeSpeechWork(std::move(request), container, max_characters, services);
}

class SynthesizeTask {
 public:
  static constexpr Method kMethod = Method::kSynthesize;

  absl::StatusOr<Work> Decode(const ByteBuffer& message, const Services& services) {
    MILLRACE_ASSIGN_OR_RETURN(
        auto decoded,
        DecodeSynthesize(message, services, models::AudioContainer::kFile, kMaxWholeCharacters));
    audio_.Start(decoded.encoding);
    voice_ = std::move(decoded.voice);
    warning_ = UnreadScriptsWarning(decoded);
    return std::move(decoded.work);
  }

  void Emit(models::Output output, const RequestRun& run) {
    auto& piece = std::get<models::SynthesizeOutput>(output);
    if (!audio_.Push(piece, run)) return;
    AddSpans(std::move(piece.words), piece.sample_rate, piece.sentence_index, words_);
    AddSpans(std::move(piece.phonemes), piece.sample_rate, piece.sentence_index, phonemes_);
  }

  absl::Status End(const absl::Status& status, const RequestRun& run, ByteBuffer& reply) {
    MILLRACE_ASSIGN_OR_RETURN(std::string bytes,
                              audio_.Take(status, "text, phonemes", "StreamSynthesize"));
    const models::ModelInfo& model = run.model()->info();
    v1::SynthesizeResponse response;
    response.set_model(model.name);
    response.set_model_version(StrCat(model.version));
    response.set_voice(std::move(voice_));
    response.set_encoding(ToEncoding(audio_.encoding().format));
    response.set_sample_rate(static_cast<uint32_t>(audio_.encoding().output_rate));
    response.set_duration_seconds(audio_.seconds());
    response.set_audio(std::move(bytes));
    *response.mutable_words() = std::move(words_);
    *response.mutable_phonemes() = std::move(phonemes_);
    return SerializeMessage(response, reply);
  }

  const std::string& warning() const { return warning_; }

 private:
  std::string voice_;
  std::string warning_;
  WholeSpeech audio_;
  SpokenSpans words_;
  SpokenSpans phonemes_;
};

class StreamSynthesizeTask {
 public:
  static constexpr Method kMethod = Method::kStreamSynthesize;

  absl::StatusOr<Work> Decode(const ByteBuffer& message, const Services& services) {
    MILLRACE_ASSIGN_OR_RETURN(
        auto decoded,
        DecodeSynthesize(message, services, models::AudioContainer::kStream, kMaxStreamCharacters));
    audio_.Start(decoded.encoding);
    warning_ = UnreadScriptsWarning(decoded);
    return std::move(decoded.work);
  }

  void Emit(models::Output output, const RequestRun& run, ReplyStream& stream) {
    auto part = std::get<models::SynthesizeOutput>(std::move(output));
    const std::string bytes = audio_.Push(part, run);
    sentence_ = part.sentence_index;
    SendAudio(audio_.encoding(), bytes, ToMessage(std::move(part)), stream);
  }

  absl::Status End(const absl::Status& status, ReplyStream& stream) {
    if (!status.ok()) return status;
    MILLRACE_ASSIGN_OR_RETURN(const std::string rest, audio_.Flush());
    if (!rest.empty()) SendAudio(audio_.encoding(), rest, RestOf(sentence_), stream);
    return status;
  }

  const std::string& warning() const { return warning_; }

 private:
  std::string warning_;
  SpeechAudio audio_;
  size_t sentence_ = 0;
};

// The messages of millrace.v1.SynthesisService.SynthesizeTextStream, for TextStreamCall.
class SynthesizeTextStreamTask {
 public:
  static constexpr Method kMethod = Method::kSynthesizeTextStream;

  absl::Status Take(const ByteBuffer& buffer, const Services&, TextStream& text) {
    v1::SynthesizeTextStreamRequest message;
    MILLRACE_RETURN_IF_ERROR(ParseMessage(buffer, message));
    if (message.has_config() == text.configured()) {
      return InvalidArgument(text.configured() ? "config: is for the first message only"
                                               : kConfigMissing);
    }
    if (message.has_config()) {
      MILLRACE_RETURN_IF_ERROR(TakeConfig(std::move(*message.mutable_config()), text));
    }
    if (const size_t characters = models::CountCodePoints(message.text());
        characters > kMaxMessageCharacters) {
      return InvalidArgument("text: has ", characters, " characters; at most ",
                             kMaxMessageCharacters, " are allowed in a message");
    }
    return text.Push(message.text(), message.flush());
  }

  absl::Status EmptyStream(const TextStream& text) const {
    return InvalidArgument(text.configured()
                               ? "text: there is nothing to speak; it needs a letter or a digit"
                               : kConfigMissing);
  }

  void SendAudio(std::string_view bytes, models::SynthesizeOutput piece, const TextStream& text,
                 ReplyStream& stream) {
    server::SendAudio(text.encoding(), bytes, ToMessage(std::move(piece)), stream);
  }

  void SendRest(std::string_view bytes, const TextStream& text, ReplyStream& stream) {
    server::SendAudio(text.encoding(), bytes, RestOf(text.sentences() - 1), stream);
  }

  absl::Status End(const absl::Status& status) const { return status; }

 private:
  absl::Status TakeConfig(v1::SynthesizeRequest config, TextStream& text) {
    if (!config.text().empty())
      return InvalidArgument("config.text: must be empty; the text comes in 'text'");
    if (!config.phonemes().empty()) {
      return InvalidArgument(
          "config.phonemes: must be empty; a stream is of text, phonemes go to StreamSynthesize");
    }
    MILLRACE_ASSIGN_OR_RETURN(auto request,
                              ToSpeechRequest(std::move(config), models::AudioContainer::kStream));
    return text.Configure(std::move(request));
  }
};

}  // namespace

SynthesisService::SynthesisService(Services& services)
    : RpcService("millrace.v1.SynthesisService") {
  Serve("Synthesize", UnaryCall<SynthesizeTask>::Serving(services));
  Serve("StreamSynthesize", StreamCall<StreamSynthesizeTask>::Serving(services));
  Serve("SynthesizeTextStream", TextStreamCall<SynthesizeTextStreamTask>::Serving(services));
}

}  // namespace millrace::server
