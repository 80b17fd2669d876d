#include "server/requests/speech_audio.h"

#include <cstdint>
#include <utility>

#include "models/core/errors.h"
#include "models/text/unicode.h"
#include "server/requests/request_run.h"

namespace millrace::server {
namespace {

constexpr size_t kChunkBytes = 32 << 10;

}  // namespace

absl::Status SpeechAudio::MakeEncoder() {
  if (encoder_ != nullptr || !status_.ok()) return status_;
  auto encoder = models::MakeAudioEncoder(encoding_);
  if (encoder.ok()) {
    encoder_ = *std::move(encoder);
  } else {
    status_ = encoder.status();
  }
  return status_;
}

std::string SpeechAudio::Push(models::SynthesizeOutput& piece, const RequestRun& run) {
  for (auto* times : {&piece.words, &piece.phonemes}) {
    for (models::SpokenSpan& time : *times) {
      time.begin += static_cast<int64_t>(samples_);
      time.end += static_cast<int64_t>(samples_);
    }
  }
  ModelMetrics& metrics = run.metrics();
  if (!std::exchange(heard_, true)) run.ObserveFirstAudio();
  const double seconds = static_cast<double>(piece.samples.size()) / piece.sample_rate;
  metrics.audio_seconds.Increment(seconds);
  run.CountAudio(seconds);
  metrics.characters.Increment(static_cast<double>(models::CountCodePoints(piece.text)));
  samples_ += piece.samples.size();
  return MakeEncoder().ok() ? encoder_->Push(piece.samples) : std::string();
}

absl::StatusOr<std::string> SpeechAudio::Flush() {
  // A text with nothing to say gives an empty file.
  MILLRACE_RETURN_IF_ERROR(MakeEncoder());
  return encoder_->Close();
}

size_t SpeechAudio::plain_bytes() const {
  // Audio to be normalised waits as floats at the voice's own rate.
  if (encoding_.normalize_loudness) return samples_ * sizeof(float);
  const size_t sample_bytes =
      encoding_.format == models::AudioFormat::kPcmF32 ? sizeof(float) : sizeof(int16_t);
  return static_cast<size_t>(seconds() * encoding_.output_rate) * sample_bytes;
}

void ForEachChunk(std::string_view audio,
                  absl::FunctionRef<void(std::string_view chunk, bool is_last)> take) {
  do {
    const std::string_view chunk = audio.substr(0, kChunkBytes);
    audio.remove_prefix(chunk.size());
    take(chunk, audio.empty());
  } while (!audio.empty());
}

}  // namespace millrace::server
