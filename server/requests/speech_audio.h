#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/audio/audio_encoder.h"
#include "models/core/payload.h"

namespace millrace::server {

class RequestRun;

// Encodes the audio of one request, sentence by sentence, and records its metrics. The encoder is
// made with the first sentence, so that refused requests cost none. Used by one thread at a time,
// the request's worker.
class SpeechAudio {
 public:
  void Start(const models::AudioEncoderOptions& encoding) { encoding_ = encoding; }

  // Returns the bytes that are ready after this piece, and shifts its times to those of the whole
  // audio.
  std::string Push(models::SynthesizeOutput& piece, const RequestRun& run);
  // Returns the remaining bytes. Internal if encoding failed here or before.
  absl::StatusOr<std::string> Flush();

  const models::AudioEncoderOptions& encoding() const { return encoding_; }
  double seconds() const { return static_cast<double>(samples_) / encoding_.input_rate; }
  // Returns the size of the audio as plain samples, which measures the memory held for a file.
  size_t plain_bytes() const;

 private:
  absl::Status MakeEncoder();

  models::AudioEncoderOptions encoding_;
  std::unique_ptr<models::AudioEncoder> encoder_;
  absl::Status status_;
  size_t samples_ = 0;  // at the voice's rate
  bool heard_ = false;
};

// Cuts streamed audio into the parts of messages, at least one. They are so short that a player can
// start with the first: about 0.75 s of 22.05 kHz speech in 16 bits.
void ForEachChunk(std::string_view audio,
                  absl::FunctionRef<void(std::string_view chunk, bool is_last)> take);

}  // namespace millrace::server
