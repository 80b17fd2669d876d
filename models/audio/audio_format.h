#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"

namespace millrace::models {

// The encoding of one channel of audio.
enum class AudioFormat : uint8_t {
  kPcmS16,   // signed 16-bit little-endian, no header
  kPcmF32,   // 32-bit little-endian floats, no header
  kWav,      // RIFF WAVE with 16-bit samples
  kFlac,     // FLAC with 16-bit samples
  kMp3,      // MPEG audio layer III, constant bit rate
  kOggOpus,  // Opus in Ogg
  kMuLaw,    // G.711 mu-law, a byte a sample, no header
  kALaw,     // G.711 A-law, a byte a sample, no header
};

inline constexpr uint32_t kMinSampleRate = 8000;  // hertz, that a client may request
inline constexpr uint32_t kMaxSampleRate = 48000;

// Returns "PCM_S16LE", "PCM_F32LE", "WAV", "FLAC", "MP3", "OGG_OPUS", "MULAW" or "ALAW".
std::string_view ToString(AudioFormat format);

// Returns the format with this short name of the command line and of OpenAI's speech API: mp3,
// opus, flac, wav, or pcm for kPcmS16.
std::optional<AudioFormat> AudioFormatNamed(std::string_view name);

// Returns the sample rates in hertz, ascending, that the format supports; empty if it supports all.
std::span<const uint32_t> SampleRates(AudioFormat format);

// Returns the sample rate in hertz of encoded audio. If `requested` is 0, it is the voice's own, or
// the next higher one that the format supports. InvalidArgument names sample_rate, the value and
// what is allowed.
absl::StatusOr<int> ResolveSampleRate(AudioFormat format, uint32_t requested, int native);

}  // namespace millrace::models
