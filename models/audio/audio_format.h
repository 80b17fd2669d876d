#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"

namespace millrace::models {

// How one channel of sound becomes bytes.
enum class AudioFormat : uint8_t {
  kPcmS16,   // signed 16-bit little-endian, no header
  kPcmF32,   // 32-bit little-endian floats, no header
  kWav,      // RIFF WAVE with 16-bit samples
  kFlac,     // FLAC with 16-bit samples
  kMp3,      // MPEG audio layer III, constant bit rate
  kOggOpus,  // Opus in Ogg
};

inline constexpr uint32_t kMinSampleRate = 8000;  // hertz, as a client may ask for
inline constexpr uint32_t kMaxSampleRate = 48000;

// "PCM_S16LE", "PCM_F32LE", "WAV", "FLAC", "MP3" or "OGG_OPUS".
std::string_view ToString(AudioFormat format);

// By the short names of command lines and of OpenAI's speech API: mp3, opus, flac, wav, and pcm for
// kPcmS16.
std::optional<AudioFormat> AudioFormatNamed(std::string_view name);

// The rates in hertz, ascending, that a format is bound to; empty: any is allowed.
std::span<const uint32_t> SampleRates(AudioFormat format);

// The rate in hertz of encoded audio. `requested` 0 means the voice's own, or the next higher one
// that the format has. InvalidArgument names sample_rate, the value and what is allowed.
absl::StatusOr<int> ResolveSampleRate(AudioFormat format, uint32_t requested, int native);

}  // namespace millrace::models
