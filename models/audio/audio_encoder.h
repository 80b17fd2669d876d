#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "models/audio/audio_format.h"

namespace millrace::models {

// Encodes one channel of audio, chunk by chunk, as one file or stream: the concatenation of what
// Push and Close return. Chunks join without a gap, and where the audio is cut does not matter,
// unless a stream's loudness is normalised. One thread at a time.
class AudioEncoder {
 public:
  virtual ~AudioEncoder() = default;

  // Returns the bytes that are ready after these samples, perhaps none. Samples outside -1..1 are
  // clipped, and NaN becomes silence.
  virtual std::string Push(std::span<const float> samples) = 0;
  // Returns the remaining bytes; Push must not follow. Internal when a library failed here or in an
  // earlier Push.
  virtual absl::StatusOr<std::string> Close() = 0;
};

// The container says if bytes that were returned can still be changed.
enum class AudioContainer : uint8_t {
  kStream,  // bytes are sent at once: headers do not state the length
  kFile,    // Close returns all bytes, and headers hold the true length
};

struct AudioEncoderOptions {
  AudioFormat format = AudioFormat::kWav;
  AudioContainer container = AudioContainer::kFile;
  int input_rate = 0;   // hertz, > 0
  int output_rate = 0;  // hertz, from ResolveSampleRate; the audio is resampled if it differs
  // Uses a LoudnessNormalizer: for a file once, for a stream at each Push, which should then be a
  // sentence.
  bool normalize_loudness = false;
  // Factor of the samples, after the loudness is normalised; what exceeds -1..1 then is clipped.
  float volume = 1;
};

// Returns Internal when a library refuses. A WAV holds at most 4 GiB.
absl::StatusOr<std::unique_ptr<AudioEncoder>> MakeAudioEncoder(const AudioEncoderOptions& options);

}  // namespace millrace::models
