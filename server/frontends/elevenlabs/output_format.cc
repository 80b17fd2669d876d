#include "server/frontends/elevenlabs/output_format.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

absl::Status Impossible(std::string_view name) {
  return InvalidArgument(
      "output_format: ", Shown(name),
      " is not available; mp3_RATE_KBPS, opus_48000_KBPS, pcm_RATE and wav_RATE are, such "
      "as mp3_44100_128, opus_48000_64, pcm_16000 and wav_24000");
}

}  // namespace

absl::StatusOr<OutputFormat> ParseOutputFormat(std::string_view name) {
  const std::vector<std::string> parts = absl::StrSplit(View(name), '_');
  OutputFormat format;
  uint32_t kilobits = 0;
  if (parts.size() < 2 || !absl::SimpleAtoi(parts[1], &format.sample_rate)) return Impossible(name);
  const bool packed = parts[0] == "mp3" || parts[0] == "opus";
  if (parts.size() != (packed ? 3U : 2U)) return Impossible(name);
  if (packed && (!absl::SimpleAtoi(parts[2], &kilobits) || kilobits == 0)) return Impossible(name);
  const std::optional<models::AudioFormat> known = models::AudioFormatNamed(parts[0]);
  if (!known || *known == models::AudioFormat::kFlac) return Impossible(name);
  format.format = *known;
  const auto rates = models::SampleRates(format.format);
  const bool possible = rates.empty() ? format.sample_rate >= models::kMinSampleRate &&
                                            format.sample_rate <= models::kMaxSampleRate
                                      : std::ranges::find(rates, format.sample_rate) != rates.end();
  if (!possible) return Impossible(name);
  return format;
}

}  // namespace millrace::server
