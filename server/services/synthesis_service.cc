#include "server/services/synthesis_service.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "models/core/strings.h"
#include "models/synthesis/audio_encoding.h"
#include "server/services/message_codec.h"
#include "server/services/stream_call.h"
#include "server/services/text_field.h"
#include "server/services/unary_call.h"
#include "server/services/utf8.h"

namespace millrace::server {
namespace {

// Of one request.
constexpr size_t kMaxStreamCharacters = 20'000;
constexpr size_t kMaxUnaryCharacters = 5'000;
// A unary reply is held in memory until it is sent: some 25 minutes of 22.05 kHz speech as 16 bit,
// and far above what 5,000 characters take at a common speed.
constexpr size_t kMaxUnaryAudioBytes = 64 << 20;
// Of one streamed message: about 0.75 s of 22.05 kHz speech, so that a player can start on the
// first.
constexpr size_t kChunkSamples = 16'384;

struct SynthesisWork {
  Work work;
  v1::AudioEncoding encoding;
  std::string voice;
};

absl::StatusOr<SynthesisWork> DecodeSynthesize(const grpc::ByteBuffer& buffer, Services& services,
                                               size_t max_characters) {
  v1::SynthesizeRequest request;
  if (absl::Status status = ParseMessage(buffer, request); !status.ok()) return status;
  if (absl::Status status = CheckText("text", request.text()); !status.ok()) return status;
  const size_t characters = CountCharacters(request.text());
  if (absl::Status status = CheckTotal("text", characters, max_characters); !status.ok())
    return status;
  if (!v1::AudioEncoding_IsValid(request.encoding())) {
    return absl::InvalidArgumentError(StrCat("encoding: ", static_cast<int>(request.encoding()),
                                             " is none of WAV (1), PCM_S16LE (2), ",
                                             "PCM_F32LE (3)"));
  }
  if (absl::Status status = CheckVersion(request.model(), request.model_version()); !status.ok())
    return status;
  auto model = services.models.FindForTask(models::Task::kSynthesis, request.model(),
                                           request.model_version());
  if (!model.ok()) return model.status();
  const models::ModelInfo& info = (*model)->info();
  models::SynthesizeInput input;
  input.text = std::move(*request.mutable_text());
  input.voice = request.voice().empty() ? info.voices.front() : request.voice();
  input.seed = request.seed();
  if (request.has_speed()) input.speed = request.speed();
  // The native input says "the voice's own" by a negative number, so one from outside must not pass
  // for it.
  const auto take_noise = [](const char* field, float value, float& out) {
    out = value;
    if (value >= 0) return absl::OkStatus();
    return absl::InvalidArgumentError(StrCat(field, ": is ", value, "; 0 to 2 are allowed"));
  };
  absl::Status status;
  if (request.has_noise_scale())
    status.Update(take_noise("noise_scale", request.noise_scale(), input.noise_scale));
  if (request.has_noise_w()) status.Update(take_noise("noise_w", request.noise_w(), input.noise_w));
  if (!status.ok()) return status;
  std::string voice = input.voice;
  return SynthesisWork{Work{*std::move(model), std::move(input)}, request.encoding(),
                       std::move(voice)};
}

void CountAudio(ModelMetrics& metrics, const models::SynthesizeOutput& part) {
  metrics.audio_seconds.Increment(static_cast<double>(part.samples.size()) / part.sample_rate);
  metrics.characters.Increment(static_cast<double>(CountCharacters(part.text)));
}

models::AudioFormat ToFormat(v1::AudioEncoding encoding) {
  switch (encoding) {
    case v1::AUDIO_ENCODING_PCM_S16LE:
      return models::AudioFormat::kPcmS16;
    case v1::AUDIO_ENCODING_PCM_F32LE:
      return models::AudioFormat::kPcmF32;
    default:
      return models::AudioFormat::kWav;
  }
}

class SynthesizeCall final : public UnaryCall {
 public:
  SynthesizeCall(Services& services, grpc::CallbackServerContext& rpc,
                 const grpc::ByteBuffer& request, grpc::ByteBuffer& response)
      : UnaryCall(services, rpc, Method::kSynthesize, request, response) {}

  void Emit(models::Output output) override {
    const auto& part = std::get<models::SynthesizeOutput>(output);
    if (sample_rate_ == 0)
      metrics().first_audio_seconds.Observe(Seconds(services().clock.Now() - start()));
    CountAudio(metrics(), part);
    sample_rate_ = part.sample_rate;
    samples_ += part.samples.size();
    if (too_long_) return;
    // Encoded at once: half the size of what the model gives.
    audio_ += models::EncodeAudio(part.samples, part.sample_rate,
                                  encoding_ == v1::AUDIO_ENCODING_PCM_F32LE
                                      ? models::AudioFormat::kPcmF32
                                      : models::AudioFormat::kPcmS16);
    if (audio_.size() > kMaxUnaryAudioBytes) {
      too_long_ = true;
      audio_ = std::string();
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
    auto decoded = DecodeSynthesize(request(), services(), kMaxUnaryCharacters);
    if (!decoded.ok()) return decoded.status();
    encoding_ = decoded->encoding == v1::AUDIO_ENCODING_UNSPECIFIED ? v1::AUDIO_ENCODING_WAV
                                                                    : decoded->encoding;
    voice_ = std::move(decoded->voice);
    return std::move(decoded->work);
  }

  absl::Status Encode(grpc::ByteBuffer& buffer) override {
    v1::SynthesizeResponse response;
    response.set_model(model()->info().name);
    response.set_model_version(StrCat(model()->info().version));
    response.set_voice(std::move(voice_));
    response.set_encoding(encoding_);
    // A text without anything to say has no audio that told it.
    if (sample_rate_ == 0) sample_rate_ = model()->info().sample_rate;
    response.set_sample_rate(static_cast<uint32_t>(sample_rate_));
    response.set_duration_seconds(static_cast<double>(samples_) / sample_rate_);
    if (encoding_ == v1::AUDIO_ENCODING_WAV)
      audio_.insert(0, models::WavHeader(samples_, sample_rate_));
    response.set_audio(std::move(audio_));
    return SerializeMessage(response, buffer);
  }

  v1::AudioEncoding encoding_ = v1::AUDIO_ENCODING_WAV;
  std::string voice_;
  int sample_rate_ = 0;  // 0 until the first audio
  size_t samples_ = 0;
  std::string audio_;  // without the header
  bool too_long_ = false;
};

class StreamSynthesizeCall final : public StreamCall {
 public:
  StreamSynthesizeCall(Services& services, grpc::CallbackServerContext& rpc,
                       const grpc::ByteBuffer& request)
      : StreamCall(services, rpc, Method::kStreamSynthesize, request) {}

  void Emit(models::Output output) override {
    auto part = std::get<models::SynthesizeOutput>(std::move(output));
    if (std::exchange(first_, false))
      metrics().first_audio_seconds.Observe(Seconds(services().clock.Now() - start()));
    CountAudio(metrics(), part);
    std::span<const float> rest = part.samples;
    v1::StreamSynthesizeResponse message;
    message.set_encoding(encoding_);
    message.set_sample_rate(static_cast<uint32_t>(part.sample_rate));
    message.set_sentence_index(static_cast<uint32_t>(part.sentence_index));
    if (!part.text.empty()) message.set_text(std::move(part.text));
    do {
      const auto chunk = rest.first(std::min(rest.size(), kChunkSamples));
      rest = rest.subspan(chunk.size());
      message.set_audio(models::EncodeAudio(chunk, part.sample_rate, ToFormat(encoding_)));
      message.set_sentence_finished(rest.empty() && part.sentence_finished);
      Send(message);
      message.clear_text();
    } while (!rest.empty());
  }

 private:
  absl::StatusOr<Work> Decode() override {
    auto decoded = DecodeSynthesize(request(), services(), kMaxStreamCharacters);
    if (!decoded.ok()) return decoded.status();
    if (decoded->encoding == v1::AUDIO_ENCODING_WAV) {
      return absl::InvalidArgumentError(
          "encoding: WAV needs the length in its header, so it cannot be streamed; use PCM_S16LE "
          "or PCM_F32LE");
    }
    if (decoded->encoding != v1::AUDIO_ENCODING_UNSPECIFIED) encoding_ = decoded->encoding;
    std::get<models::SynthesizeInput>(decoded->work.input).streamed = true;
    return std::move(decoded->work);
  }

  v1::AudioEncoding encoding_ = v1::AUDIO_ENCODING_PCM_S16LE;
  bool first_ = true;
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
