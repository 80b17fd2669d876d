#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace millrace::models {

enum class AudioFormat : uint8_t {
  kPcmS16,  // signed 16-bit little-endian, no header
  kPcmF32,  // 32-bit little-endian floats, no header
  kWav,     // RIFF WAVE with 16-bit samples
};

// Mono samples as bytes. Samples outside -1..1 are clipped, and NaN is silence; 16-bit values are
// rounded to the nearest. The pieces of a stream may be encoded one by one, except kWav, whose
// header holds the length. A WAV holds at most 4 GiB.
std::string EncodeAudio(std::span<const float> samples, int sample_rate, AudioFormat format);

// The 44 bytes before the samples of a WAV, for audio that was encoded piece by piece as kPcmS16.
std::string WavHeader(size_t sample_count, int sample_rate);

}  // namespace millrace::models
