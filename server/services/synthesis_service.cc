#include "server/services/synthesis_service.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "models/core/strings.h"
#include "server/services/message_codec.h"
#include "server/services/speech_audio.h"
#include "server/services/speech_request.h"
#include "server/services/stream_call.h"
#include "server/services/unary_call.h"

namespace millrace::server {
namespace {

// Of one request.
constexpr size_t kMaxUnaryCharacters = 5'000;
// A unary reply is held in memory until it is sent: some 25 minutes of 22.05 kHz speech as 16 bit,
// and far above what 5,000 characters take at a common speed.
constexpr size_t kMaxUnaryAudioBytes = 64 << 20;
// Of one streamed message: about 0.75 s of 22.05 kHz speech as 16 bit, so that a player can start
// on the first.
constexpr size_t kChunkBytes = 32 << 10;

absl::StatusOr<models::AudioFormat> ToFormat(v1::AudioEncoding encoding,
                                             models::AudioFormat unspecified) {
  switch (encoding) {
    case v1::AUDIO_ENCODING_UNSPECIFIED:
      return unspecified;
    case v1::AUDIO_ENCODING_WAV:
      return models::AudioFormat::kWav;
    case v1::AUDIO_ENCODING_PCM_S16LE:
      return models::AudioFormat::kPcmS16;
    case v1::AUDIO_ENCODING_PCM_F32LE:
      return models::AudioFormat::kPcmF32;
    case v1::AUDIO_ENCODING_FLAC:
      return models::AudioFormat::kFlac;
    case v1::AUDIO_ENCODING_MP3:
      return models::AudioFormat::kMp3;
    case v1::AUDIO_ENCODING_OGG_OPUS:
      return models::AudioFormat::kOggOpus;
    default:
      return absl::InvalidArgumentError(
          StrCat("encoding: ", static_cast<int>(encoding),
                 " is none of WAV (1), PCM_S16LE (2), PCM_F32LE (3), FLAC (4), MP3 (5), ",
                 "OGG_OPUS (6)"));
  }
}

v1::AudioEncoding ToEncoding(models::AudioFormat format) {
  switch (format) {
    case models::AudioFormat::kPcmS16:
      return v1::AUDIO_ENCODING_PCM_S16LE;
    case models::AudioFormat::kPcmF32:
      return v1::AUDIO_ENCODING_PCM_F32LE;
    case models::AudioFormat::kWav:
      return v1::AUDIO_ENCODING_WAV;
    case models::AudioFormat::kFlac:
      return v1::AUDIO_ENCODING_FLAC;
    case models::AudioFormat::kMp3:
      return v1::AUDIO_ENCODING_MP3;
    case models::AudioFormat::kOggOpus:
      return v1::AUDIO_ENCODING_OGG_OPUS;
  }
  return v1::AUDIO_ENCODING_UNSPECIFIED;
}

absl::StatusOr<SpeechWork> DecodeSynthesize(const grpc::ByteBuffer& buffer,
                                            const Services& services,
                                            models::AudioContainer container,
                                            size_t max_characters) {
  v1::SynthesizeRequest message;
  if (absl::Status status = ParseMessage(buffer, message); !status.ok()) return status;
  const auto format = ToFormat(message.encoding(), container == models::AudioContainer::kFile
                                                       ? models::AudioFormat::kWav
                                                       : models::AudioFormat::kPcmS16);
  if (!format.ok()) return format.status();
  SpeechRequest request;
  request.model = std::move(*message.mutable_model());
  request.model_version = std::move(*message.mutable_model_version());
  request.voice = std::move(*message.mutable_voice());
  request.text = std::move(*message.mutable_text());
  if (message.has_speed()) request.speed = message.speed();
  if (message.has_noise_scale()) request.noise_scale = message.noise_scale();
  if (message.has_noise_w()) request.noise_w = message.noise_w();
  request.seed = message.seed();
  request.format = *format;
  request.sample_rate = message.sample_rate();
  request.normalize_loudness = message.normalize_loudness();
  return MakeSpeechWork(std::move(request), container, max_characters, services);
}

class SynthesizeCall final : public UnaryCall {
 public:
  SynthesizeCall(Services& services, grpc::CallbackServerContext& rpc,
                 const grpc::ByteBuffer& request, grpc::ByteBuffer& response)
      : UnaryCall(services, rpc, Method::kSynthesize, request, response) {}

  void Emit(models::Output output) override {
    if (too_long_) return;
    audio_.Push(std::get<models::SynthesizeOutput>(output), metrics(),
                services().clock.Now() - start());
    if (audio_.plain_bytes() > kMaxUnaryAudioBytes) {
      too_long_ = true;
      Cancel();
    }
  }

 private:
  absl::Status Outcome(const absl::Status& status) override {
    if (!too_long_) return status;
    return absl::InvalidArgumentError(StrCat("text: its speech is longer than one reply may hold, ",
                                             kMaxUnaryAudioBytes >> 20,
                                             " MiB; use StreamSynthesize"));
  }

  absl::StatusOr<Work> Decode() override {
    auto decoded =
        DecodeSynthesize(request(), services(), models::AudioContainer::kFile, kMaxUnaryCharacters);
    if (!decoded.ok()) return decoded.status();
    audio_.Start(decoded->encoding);
    voice_ = std::move(decoded->voice);
    return std::move(decoded->work);
  }

  absl::Status Encode(grpc::ByteBuffer& buffer) override {
    absl::StatusOr<std::string> bytes = audio_.Finish();
    if (!bytes.ok()) return bytes.status();
    v1::SynthesizeResponse response;
    response.set_model(model()->info().name);
    response.set_model_version(StrCat(model()->info().version));
    response.set_voice(std::move(voice_));
    response.set_encoding(ToEncoding(audio_.encoding().format));
    response.set_sample_rate(static_cast<uint32_t>(audio_.encoding().output_rate));
    response.set_duration_seconds(audio_.seconds());
    response.set_audio(*std::move(bytes));
    return SerializeMessage(response, buffer);
  }

  std::string voice_;
  SpeechAudio audio_;
  bool too_long_ = false;
};

class StreamSynthesizeCall final : public StreamCall {
 public:
  StreamSynthesizeCall(Services& services, grpc::CallbackServerContext& rpc,
                       const grpc::ByteBuffer& request)
      : StreamCall(services, rpc, Method::kStreamSynthesize, request) {}

  void Emit(models::Output output) override {
    auto part = std::get<models::SynthesizeOutput>(std::move(output));
    const std::string bytes = audio_.Push(part, metrics(), services().clock.Now() - start());
    sentence_ = static_cast<uint32_t>(part.sentence_index);
    SendAudio(bytes, std::move(part.text), part.sentence_finished);
  }

 private:
  absl::StatusOr<Work> Decode() override {
    auto decoded = DecodeSynthesize(request(), services(), models::AudioContainer::kStream,
                                    kMaxStreamCharacters);
    if (!decoded.ok()) return decoded.status();
    audio_.Start(decoded->encoding);
    return std::move(decoded->work);
  }

  absl::Status Outcome(const absl::Status& status) override {
    if (!status.ok()) return status;
    const absl::StatusOr<std::string> rest = audio_.Finish();
    if (!rest.ok()) return rest.status();
    if (!rest->empty()) SendAudio(*rest, "", true);
    return status;
  }

  void SendAudio(std::string_view rest, std::string text, bool finished) {
    v1::StreamSynthesizeResponse message;
    message.set_encoding(ToEncoding(audio_.encoding().format));
    message.set_sample_rate(static_cast<uint32_t>(audio_.encoding().output_rate));
    message.set_sentence_index(sentence_);
    message.set_text(std::move(text));
    do {
      const std::string_view chunk = rest.substr(0, kChunkBytes);
      rest.remove_prefix(chunk.size());
      message.set_audio(std::string(chunk));
      message.set_sentence_finished(finished && rest.empty());
      Send(message);
      message.clear_text();
    } while (!rest.empty());
  }

  SpeechAudio audio_;
  uint32_t sentence_ = 0;
};

}  // namespace

grpc::ServerUnaryReactor* SynthesisService::Synthesize(grpc::CallbackServerContext* rpc,
                                                       const grpc::ByteBuffer* request,
                                                       grpc::ByteBuffer* response) {
  auto* call = new SynthesizeCall(services_, *rpc, *request, *response);
  call->Start();
  return call;
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* SynthesisService::StreamSynthesize(
    grpc::CallbackServerContext* rpc, const grpc::ByteBuffer* request) {
  auto* call = new StreamSynthesizeCall(services_, *rpc, *request);
  call->Start();
  return call;
}

}  // namespace millrace::server
