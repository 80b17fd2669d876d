#include "models/audio/pcm_encoder.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "models/audio/sample_value.h"

namespace millrace::models {
namespace {

constexpr uint16_t kWavPcm = 1;
constexpr uint16_t kWavChannels = 1;
constexpr uint16_t kWavSampleBytes = 2;
constexpr uint32_t kWavHeaderBytes = 44;
constexpr uint32_t kOpenLength = 0xFFFFFFFF;

template <typename T>
void AppendLittleEndian(T value, std::string& out) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>((value >> (8 * i)) & 0xFF);
}

void AppendS16(std::span<const float> samples, std::string& out) {
  const size_t begin = out.size();
  out.resize(begin + 2 * samples.size());
  char* at = out.data() + begin;
  for (float sample : samples) {
    const auto value = static_cast<uint16_t>(ToS16(sample));
    *at++ = static_cast<char>(value & 0xFF);
    *at++ = static_cast<char>(value >> 8);
  }
}

void AppendF32(std::span<const float> samples, std::string& out) {
  out.reserve(out.size() + samples.size() * sizeof(float));
  for (float sample : samples) AppendLittleEndian(std::bit_cast<uint32_t>(Clip(sample)), out);
}

std::string WavHeader(uint32_t riff_bytes, uint32_t data_bytes, int sample_rate) {
  const auto rate = static_cast<uint32_t>(sample_rate);
  std::string out = "RIFF";
  AppendLittleEndian<uint32_t>(riff_bytes, out);
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
  return out;
}

class PcmEncoder final : public AudioEncoder {
 public:
  PcmEncoder(AudioFormat format, AudioContainer container, int sample_rate)
      : format_(format), container_(container) {
    if (format != AudioFormat::kWav) return;
    // The lengths are known only at the end of a file.
    ready_ = WavHeader(kOpenLength, kOpenLength, sample_rate);
  }

  std::string Push(std::span<const float> samples) override {
    if (format_ == AudioFormat::kPcmF32) {
      AppendF32(samples, ready_);
    } else {
      AppendS16(samples, ready_);
    }
    return container_ == AudioContainer::kFile ? std::string() : std::exchange(ready_, {});
  }

  absl::StatusOr<std::string> Close() override {
    if (format_ == AudioFormat::kWav && container_ == AudioContainer::kFile) {
      const auto file_bytes = static_cast<uint32_t>(ready_.size());
      SetWord(4, file_bytes - 8);
      SetWord(40, file_bytes - kWavHeaderBytes);
    }
    return std::exchange(ready_, {});
  }

 private:
  void SetWord(size_t at, uint32_t value) {
    std::string word;
    AppendLittleEndian(value, word);
    ready_.replace(at, word.size(), word);
  }

  const AudioFormat format_;
  const AudioContainer container_;
  std::string ready_;  // not yet returned
};

}  // namespace

std::unique_ptr<AudioEncoder> MakePcmEncoder(AudioFormat format, AudioContainer container,
                                             int sample_rate) {
  return std::make_unique<PcmEncoder>(format, container, sample_rate);
}

}  // namespace millrace::models
