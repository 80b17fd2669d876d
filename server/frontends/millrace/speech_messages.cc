#include "server/frontends/millrace/speech_messages.h"

#include <iterator>
#include <utility>

#include "models/core/errors.h"
#include "server/requests/speech_audio.h"

namespace millrace::server {
namespace {

constexpr std::pair<v1::AudioEncoding, models::AudioFormat> kEncodings[] = {
    {v1::AUDIO_ENCODING_WAV, models::AudioFormat::kWav},
    {v1::AUDIO_ENCODING_PCM_S16LE, models::AudioFormat::kPcmS16},
    {v1::AUDIO_ENCODING_PCM_F32LE, models::AudioFormat::kPcmF32},
    {v1::AUDIO_ENCODING_FLAC, models::AudioFormat::kFlac},
    {v1::AUDIO_ENCODING_MP3, models::AudioFormat::kMp3},
    {v1::AUDIO_ENCODING_OGG_OPUS, models::AudioFormat::kOggOpus},
    {v1::AUDIO_ENCODING_MULAW, models::AudioFormat::kMuLaw},
    {v1::AUDIO_ENCODING_ALAW, models::AudioFormat::kALaw}};
static_assert(std::size(kEncodings) == v1::AudioEncoding_ARRAYSIZE - 1, "all but UNSPECIFIED");

absl::StatusOr<models::AudioFormat> ToFormat(v1::AudioEncoding encoding,
                                             models::AudioFormat unspecified) {
  if (encoding == v1::AUDIO_ENCODING_UNSPECIFIED) return unspecified;
  for (const auto& [known, format] : kEncodings) {
    if (known == encoding) return format;
  }
  return InvalidArgument("encoding: ", static_cast<int>(encoding),
                         " is none of WAV (1), PCM_S16LE (2), PCM_F32LE (3), FLAC (4), MP3 (5), ",
                         "OGG_OPUS (6), MULAW (7), ALAW (8)");
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
      return InvalidArgument("text_format: ", static_cast<int>(format),
                             " is none of PLAIN (1), TAGS (2), SSML (3)");
  }
}

}  // namespace

v1::AudioEncoding ToEncoding(models::AudioFormat format) {
  for (const auto& [encoding, known] : kEncodings) {
    if (known == format) return encoding;
  }
  return v1::AUDIO_ENCODING_UNSPECIFIED;
}

absl::StatusOr<SpeechRequest> ToSpeechRequest(v1::SynthesizeRequest message,
                                              models::AudioContainer container) {
  MILLRACE_ASSIGN_OR_RETURN(const auto format,
                            ToFormat(message.encoding(), container == models::AudioContainer::kFile
                                                             ? models::AudioFormat::kWav
                                                             : models::AudioFormat::kPcmS16));
  MILLRACE_ASSIGN_OR_RETURN(const auto text_format, ToTextFormat(message.text_format()));
  SpeechRequest request;
  request.text_format = text_format;
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
  request.format = format;
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

v1::StreamSynthesizeResponse ToMessage(models::SynthesizeOutput piece) {
  v1::StreamSynthesizeResponse message;
  message.set_sentence_index(static_cast<uint32_t>(piece.sentence_index));
  message.set_sentence_finished(piece.sentence_finished);
  AddSpans(std::move(piece.words), piece.sample_rate, piece.sentence_index,
           *message.mutable_words());
  AddSpans(std::move(piece.phonemes), piece.sample_rate, piece.sentence_index,
           *message.mutable_phonemes());
  message.set_text(std::move(piece.text));
  return message;
}

void SendAudio(const models::AudioEncoderOptions& encoding, std::string_view audio,
               v1::StreamSynthesizeResponse message, ReplyStream& stream) {
  message.set_encoding(ToEncoding(encoding.format));
  message.set_sample_rate(static_cast<uint32_t>(encoding.output_rate));
  const bool ends = message.sentence_finished();
  ForEachChunk(audio, [&](std::string_view chunk, bool is_last) {
    message.set_audio(std::string(chunk));
    message.set_sentence_finished(ends && is_last);
    stream.Send(message);
    message.clear_text();
    message.clear_words();
    message.clear_phonemes();
  });
}

}  // namespace millrace::server
