#include "models/synthesis/audio_encoding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

namespace millrace::models {
namespace {

constexpr uint16_t kWavPcm = 1;
constexpr uint16_t kWavChannels = 1;
constexpr uint16_t kWavSampleBytes = 2;

template <typename T>
void AppendLittleEndian(T value, std::string& out) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>((value >> (8 * i)) & 0xFF);
}

float Clip(float sample) { return std::isnan(sample) ? 0.0F : std::clamp(sample, -1.0F, 1.0F); }

void AppendS16(std::span<const float> samples, std::string& out) {
  const size_t begin = out.size();
  out.resize(begin + 2 * samples.size());
  char* at = out.data() + begin;
  for (float sample : samples) {
    const auto value =
        static_cast<uint16_t>(static_cast<int16_t>(std::lrintf(Clip(sample) * 32767.0F)));
    *at++ = static_cast<char>(value & 0xFF);
    *at++ = static_cast<char>(value >> 8);
  }
}

void AppendF32(std::span<const float> samples, std::string& out) {
  for (float sample : samples) AppendLittleEndian(std::bit_cast<uint32_t>(Clip(sample)), out);
}

void AppendWavHeader(size_t sample_count, int sample_rate, std::string& out) {
  const auto rate = static_cast<uint32_t>(sample_rate);
  const auto data_bytes = static_cast<uint32_t>(sample_count * kWavSampleBytes);
  out += "RIFF";
  AppendLittleEndian<uint32_t>(36 + data_bytes, out);
  out += "WAVEfmt ";
  AppendLittleEndian<uint32_t>(16, out);
  AppendLittleEndian<uint16_t>(kWavPcm, out);
  AppendLittleEndian<uint16_t>(kWavChannels, out);
  AppendLittleEndian<uint32_t>(rate, out);
  AppendLittleEndian<uint32_t>(rate * kWavChannels * kWavSampleBytes, out);
  AppendLittleEndian<uint16_t>(kWavChannels * kWavSampleBytes, out);
  AppendLittleEndian<uint16_t>(8 * kWavSampleBytes, out);
  out += "data";
  AppendLittleEndian<uint32_t>(data_bytes, out);
}

}  // namespace

std::string WavHeader(size_t sample_count, int sample_rate) {
  std::string header;
  AppendWavHeader(sample_count, sample_rate, header);
  return header;
}

std::string EncodeAudio(std::span<const float> samples, int sample_rate, AudioFormat format) {
  std::string out;
  switch (format) {
    case AudioFormat::kPcmS16:
      AppendS16(samples, out);
      break;
    case AudioFormat::kPcmF32:
      out.reserve(samples.size() * sizeof(float));
      AppendF32(samples, out);
      break;
    case AudioFormat::kWav:
      out.reserve(44 + samples.size() * kWavSampleBytes);
      AppendWavHeader(samples.size(), sample_rate, out);
      AppendS16(samples, out);
      break;
  }
  return out;
}

}  // namespace millrace::models
