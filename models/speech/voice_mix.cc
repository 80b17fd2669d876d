#include "models/speech/voice_mix.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "models/core/voice_name.h"

namespace millrace::speech {
namespace {

constexpr size_t kMaxVoices = 16;
constexpr double kTolerance = 1e-3;  // for the sum of the weights

absl::Status Refuse(std::string_view text, const std::string& what) {
  return InvalidArgument(
      "voice: ", Shown(text), " is not allowed: ", what,
      "; it is a voice, \"a+b\", or \"a:0.3+b:0.7\", which may be written \"a(3)+b(7)\"");
}

}  // namespace

absl::StatusOr<std::vector<VoiceShare>> ParseVoiceMix(std::string_view text,
                                                      std::span<const std::string> voices) {
  if (text.empty()) return std::vector<VoiceShare>{{0, 1.0F}};
  const std::vector<models::VoicePart> parts = models::VoiceParts(text);
  if (parts.size() > kMaxVoices)
    return Refuse(text, StrCat("it mixes ", parts.size(), " voices, at most ", kMaxVoices));
  const bool weighted = std::ranges::any_of(
      parts, [](const models::VoicePart& part) { return part.weight.has_value(); });
  // Beside voices with weights, one without has the weight 1, as in Kokoro-FastAPI.
  const float unnamed = weighted ? 1.0F : 1.0F / static_cast<float>(parts.size());
  std::vector<VoiceShare> shares;
  double sum = 0;
  for (const models::VoicePart& part : parts) {
    const size_t index = models::FindVoice(voices, part.name);
    if (index == std::string_view::npos) {
      return InvalidArgument("voice: there is no voice ", Shown(part.name),
                             "; there are: ", absl::StrJoin(voices, ", "));
    }
    VoiceShare share{index, unnamed};
    if (part.weight) {
      if (!absl::SimpleAtof(View(*part.weight), &share.weight) || !std::isfinite(share.weight) ||
          share.weight <= 0) {
        return Refuse(text, StrCat("the weight ", Shown(*part.weight), " of ", part.name,
                                   " is not a number greater than 0"));
      }
    }
    const bool twice = std::any_of(shares.begin(), shares.end(), [&](const VoiceShare& other) {
      return other.voice == share.voice;
    });
    if (twice) return Refuse(text, StrCat("it has ", part.name, " twice"));
    sum += static_cast<double>(share.weight);
    shares.push_back(share);
  }
  // Weights that are shares already keep their bits.
  if (std::abs(sum - 1.0) > kTolerance) {
    for (VoiceShare& share : shares)
      share.weight = static_cast<float>(static_cast<double>(share.weight) / sum);
  }
  return shares;
}

}  // namespace millrace::speech
