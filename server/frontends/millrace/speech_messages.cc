#include "server/frontends/millrace/speech_messages.h"

#include <utility>

#include "models/core/strings.h"
#include "server/requests/speech_audio.h"

namespace millrace::server {
namespace {

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
    case v1::AUDIO_ENCODING_MULAW:
      return models::AudioFormat::kMuLaw;
    case v1::AUDIO_ENCODING_ALAW:
      return models::AudioFormat::kALaw;
    default:
      return absl::InvalidArgumentError(
          StrCat("encoding: ", static_cast<int>(encoding),
                 " is none of WAV (1), PCM_S16LE (2), PCM_F32LE (3), FLAC (4), MP3 (5), ",
                 "OGG_OPUS (6), MULAW (7), ALAW (8)"));
  }
}

absl::StatusOr<SpeechTextFormat> ToTextFormat(v1::SpeechTextFormat format) {
  switch (format) {
    case v1::SPEECH_TEXT_FORMAT_UNSPECIFIED:
    case v1::SPEECH_TEXT_FORMAT_PLAIN:
      return SpeechTextFormat::kPlain;
    case v1::SPEECH_TEXT_FORMAT_TAGS:
      return SpeechTextFormat::kTags;
    case v1::SPEECH_TEXT_FORMAT_SSML:
      return SpeechTextFormat::kSsml;
    default:
      return absl::InvalidArgumentError(StrCat("text_format: ", static_cast<int>(format),
                                               " is none of PLAIN (1), TAGS (2), SSML (3)"));
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
    case models::AudioFormat::kMuLaw:
      return v1::AUDIO_ENCODING_MULAW;
    case models::AudioFormat::kALaw:
      return v1::AUDIO_ENCODING_ALAW;
  }
  return v1::AUDIO_ENCODING_UNSPECIFIED;
}

absl::StatusOr<SpeechRequest> ToSpeechRequest(v1::SynthesizeRequest message,
                                              models::AudioContainer container) {
  const auto format = ToFormat(message.encoding(), container == models::AudioContainer::kFile
                                                       ? models::AudioFormat::kWav
                                                       : models::AudioFormat::kPcmS16);
  if (!format.ok()) return format.status();
  const auto text_format = ToTextFormat(message.text_format());
  if (!text_format.ok()) return text_format.status();
  SpeechRequest request;
  request.text_format = *text_format;
  request.model = std::move(*message.mutable_model());
  request.model_version = std::move(*message.mutable_model_version());
  request.voice = std::move(*message.mutable_voice());
  request.text = std::move(*message.mutable_text());
  request.phonemes = std::move(*message.mutable_phonemes());
  if (message.has_speed()) request.speed = message.speed();
  if (message.has_noise_scale()) request.noise_scale = message.noise_scale();
  if (message.has_noise_w()) request.noise_w = message.noise_w();
  if (message.has_sentence_pause_seconds())
    request.sentence_pause_seconds = message.sentence_pause_seconds();
  if (message.has_paragraph_pause_seconds())
    request.paragraph_pause_seconds = message.paragraph_pause_seconds();
  request.seed = message.seed();
  request.format = *format;
  request.sample_rate = message.sample_rate();
  request.normalize_loudness = message.normalize_loudness();
  request.language = std::move(*message.mutable_language());
  request.word_times = message.word_times();
  request.phoneme_times = message.phoneme_times();
  return request;
}

void AddSpans(std::vector<models::SpokenSpan> times, int sample_rate, size_t sentence,
              SpokenSpans& spans) {
  for (models::SpokenSpan& time : times) {
    v1::SpokenSpan& span = *spans.Add();
    span.set_text(std::move(time.text));
    span.set_start_seconds(static_cast<double>(time.begin) / sample_rate);
    span.set_end_seconds(static_cast<double>(time.end) / sample_rate);
    span.set_sentence_index(static_cast<uint32_t>(sentence));
    span.set_character_offset(static_cast<uint32_t>(time.character));
  }
}

SpeechPiece ToPiece(models::SynthesizeOutput piece) {
  SpeechPiece result;
  result.sentence = static_cast<uint32_t>(piece.sentence_index);
  result.sentence_ends = piece.sentence_finished;
  AddSpans(std::move(piece.words), piece.sample_rate, piece.sentence_index, result.words);
  AddSpans(std::move(piece.phonemes), piece.sample_rate, piece.sentence_index, result.phonemes);
  result.text = std::move(piece.text);
  return result;
}

void ForEachMessage(const models::AudioEncoderOptions& encoding, std::string_view audio,
                    SpeechPiece piece,
                    const std::function<void(const v1::StreamSynthesizeResponse&)>& send) {
  v1::StreamSynthesizeResponse message;
  message.set_encoding(ToEncoding(encoding.format));
  message.set_sample_rate(static_cast<uint32_t>(encoding.output_rate));
  message.set_sentence_index(piece.sentence);
  message.set_text(std::move(piece.text));
  *message.mutable_words() = std::move(piece.words);
  *message.mutable_phonemes() = std::move(piece.phonemes);
  ForEachChunk(audio, [&](std::string_view chunk, bool is_last) {
    message.set_audio(std::string(chunk));
    message.set_sentence_finished(piece.sentence_ends && is_last);
    send(message);
    message.clear_text();
    message.clear_words();
    message.clear_phonemes();
  });
}

}  // namespace millrace::server
