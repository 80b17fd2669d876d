#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "models/audio/audio_format.h"

namespace millrace::models {

// Turns one channel of sound, piece by piece, into the bytes of one file or stream: what Push and
// Finish return, concatenated, is the whole. Pieces join without a gap, and how the sound is cut
// does not matter, unless a stream's loudness is normalized. For one thread at a time.
class AudioEncoder {
 public:
  virtual ~AudioEncoder() = default;

  // The bytes that are ready after these samples, perhaps none. Samples outside -1..1 are clipped,
  // NaN is silence.
  virtual std::string Push(std::span<const float> samples) = 0;
  // The rest; nothing may follow. Internal when a library failed here or in an earlier Push.
  virtual absl::StatusOr<std::string> Finish() = 0;
};

// Whether what was returned may still be changed.
enum class AudioContainer : uint8_t {
  kStream,  // bytes leave at once: lengths in headers stay open
  kFile,    // all bytes come from Finish, and headers hold the true length
};

struct AudioEncoderOptions {
  AudioFormat format = AudioFormat::kWav;
  AudioContainer container = AudioContainer::kFile;
  int input_rate = 0;   // hertz, > 0
  int output_rate = 0;  // hertz, of ResolveSampleRate; resampled when it is another
  // By LoudnessNormalizer: of a file at once, of a stream at each Push, which then should be a
  // sentence.
  bool normalize_loudness = false;
};

// Internal when a library refuses. A WAV holds at most 4 GiB.
absl::StatusOr<std::unique_ptr<AudioEncoder>> MakeAudioEncoder(const AudioEncoderOptions& options);

}  // namespace millrace::models
