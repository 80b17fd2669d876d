#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/audio/audio_encoder.h"
#include "models/core/payload.h"
#include "mps_runtime/base/clock.h"
#include "server/metrics/model_metrics.h"

namespace millrace::server {

// The audio of one request on its way from sentences to bytes, and its metrics. The encoder is made
// with the first sentence, so that refused requests cost none. For one thread at a time: the
// request's worker.
class SpeechAudio {
 public:
  void Start(const models::AudioEncoderOptions& encoding) { encoding_ = encoding; }

  // The bytes that are ready after this piece, whose times become those of the whole audio.
  // `waited`: since the request came.
  std::string Push(models::SynthesizeOutput& piece, ModelMetrics& metrics, Duration waited);
  // The rest. Internal when encoding failed here or before.
  absl::StatusOr<std::string> Finish();

  const models::AudioEncoderOptions& encoding() const { return encoding_; }
  double seconds() const { return static_cast<double>(samples_) / encoding_.input_rate; }
  // What the audio takes as plain samples, as a measure of what is held for a file.
  size_t plain_bytes() const;

 private:
  absl::Status MakeEncoder();

  models::AudioEncoderOptions encoding_;
  std::unique_ptr<models::AudioEncoder> encoder_;
  absl::Status status_;
  size_t samples_ = 0;  // of the voice
  bool heard_ = false;
};

}  // namespace millrace::server
