#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/audio/audio_format.h"

namespace millrace::server {

// ElevenLabs' output_format, such as "mp3_44100_128" or "pcm_16000".
struct OutputFormat {
  models::AudioFormat format = models::AudioFormat::kMp3;
  uint32_t sample_rate = 0;  // hertz
};

inline constexpr std::string_view kDefaultOutputFormat = "mp3_44100_128";

// Returns what a name stands for. Its bit rate is ElevenLabs' upper bound; ours is the encoder's
// own. InvalidArgument names what is not possible, and what is.
absl::StatusOr<OutputFormat> ParseOutputFormat(std::string_view name);

}  // namespace millrace::server
