#include "models/audio/audio_format.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "models/core/errors.h"
#include "models/core/strings.h"

namespace millrace::models {
namespace {

constexpr uint32_t kMp3Rates[] = {8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000};
constexpr uint32_t kOpusRates[] = {8000, 12000, 16000, 24000, 48000};

}  // namespace

std::string_view ToString(AudioFormat format) {
  switch (format) {
    case AudioFormat::kPcmS16:
      return "PCM_S16LE";
    case AudioFormat::kPcmF32:
      return "PCM_F32LE";
    case AudioFormat::kWav:
      return "WAV";
    case AudioFormat::kFlac:
      return "FLAC";
    case AudioFormat::kMp3:
      return "MP3";
    case AudioFormat::kOggOpus:
      return "OGG_OPUS";
    case AudioFormat::kMuLaw:
      return "MULAW";
    case AudioFormat::kALaw:
      return "ALAW";
  }
  return "UNKNOWN";
}

std::optional<AudioFormat> AudioFormatNamed(std::string_view name) {
  constexpr std::pair<std::string_view, AudioFormat> kNames[] = {{"mp3", AudioFormat::kMp3},
                                                                 {"opus", AudioFormat::kOggOpus},
                                                                 {"flac", AudioFormat::kFlac},
                                                                 {"wav", AudioFormat::kWav},
                                                                 {"pcm", AudioFormat::kPcmS16}};
  for (const auto& [known, format] : kNames) {
    if (absl::EqualsIgnoreCase(View(known), View(name))) return format;
  }
  return std::nullopt;
}

std::span<const uint32_t> SampleRates(AudioFormat format) {
  if (format == AudioFormat::kMp3) return kMp3Rates;
  if (format == AudioFormat::kOggOpus) return kOpusRates;
  return {};
}

absl::StatusOr<int> ResolveSampleRate(AudioFormat format, uint32_t requested, int native) {
  const std::span<const uint32_t> rates = SampleRates(format);
  if (requested == 0) {
    if (rates.empty()) return native;
    const auto found = std::lower_bound(rates.begin(), rates.end(), static_cast<uint32_t>(native));
    return static_cast<int>(found == rates.end() ? rates.back() : *found);
  }
  if (rates.empty() && (requested < kMinSampleRate || requested > kMaxSampleRate)) {
    return InvalidArgument("sample_rate: ", requested,
                           " is not allowed; it is 0 (the voice's own) or ", kMinSampleRate, "..",
                           kMaxSampleRate, " hertz");
  }
  if (!rates.empty() && !std::binary_search(rates.begin(), rates.end(), requested)) {
    return InvalidArgument("sample_rate: ", requested, " is not allowed; ", ToString(format),
                           " has 0 (the next to the voice's own) or ", absl::StrJoin(rates, ", "),
                           " hertz");
  }
  return static_cast<int>(requested);
}

}  // namespace millrace::models
