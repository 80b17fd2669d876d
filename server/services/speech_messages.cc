#include "server/services/speech_messages.h"

#include <utility>

#include "models/core/strings.h"

namespace millrace::server {
namespace {

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

}  // namespace

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

absl::StatusOr<SpeechRequest> ToSpeechRequest(v1::SynthesizeRequest message,
                                              models::AudioContainer container) {
  const auto format = ToFormat(message.encoding(), container == models::AudioContainer::kFile
                                                       ? models::AudioFormat::kWav
                                                       : models::AudioFormat::kPcmS16);
  if (!format.ok()) return format.status();
  SpeechRequest request;
  request.model = std::move(*message.mutable_model());
  request.model_version = std::move(*message.mutable_model_version());
  request.voice = std::move(*message.mutable_voice());
  request.text = std::move(*message.mutable_text());
  request.phonemes = std::move(*message.mutable_phonemes());
  if (message.has_speed()) request.speed = message.speed();
  if (message.has_noise_scale()) request.noise_scale = message.noise_scale();
  if (message.has_noise_w()) request.noise_w = message.noise_w();
  request.seed = message.seed();
  request.format = *format;
  request.sample_rate = message.sample_rate();
  request.normalize_loudness = message.normalize_loudness();
  return request;
}

void ForEachMessage(const models::AudioEncoderOptions& encoding, std::string_view audio,
                    SpeechPiece piece,
                    const std::function<void(const v1::StreamSynthesizeResponse&)>& send) {
  v1::StreamSynthesizeResponse message;
  message.set_encoding(ToEncoding(encoding.format));
  message.set_sample_rate(static_cast<uint32_t>(encoding.output_rate));
  message.set_sentence_index(piece.sentence);
  message.set_text(std::move(piece.text));
  do {
    const std::string_view chunk = audio.substr(0, kChunkBytes);
    audio.remove_prefix(chunk.size());
    message.set_audio(std::string(chunk));
    message.set_sentence_finished(piece.sentence_ends && audio.empty());
    send(message);
    message.clear_text();
  } while (!audio.empty());
}

}  // namespace millrace::server
