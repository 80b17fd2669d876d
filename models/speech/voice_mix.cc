#include "models/speech/voice_mix.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "models/core/shown.h"
#include "models/core/strings.h"

namespace millrace::speech {
namespace {

constexpr size_t kMaxVoices = 16;
constexpr float kTolerance = 1e-3F;  // for the sum of the weights

absl::Status Refuse(std::string_view text, const std::string& what) {
  return absl::InvalidArgumentError(
      StrCat("voice: ", Shown(text), " is not allowed: ", what,
             "; it is a voice, \"a+b\", or \"a:0.3+b:0.7\" with weights that sum to 1"));
}

}  // namespace

absl::StatusOr<std::vector<VoiceShare>> ParseVoiceMix(std::string_view text,
                                                      std::span<const std::string> voices) {
  if (text.empty()) return std::vector<VoiceShare>{{0, 1.0F}};
  const std::vector<std::string> parts = absl::StrSplit(View(text), '+');
  if (parts.size() > kMaxVoices)
    return Refuse(text, StrCat("it mixes ", parts.size(), " voices, at most ", kMaxVoices));
  std::vector<VoiceShare> shares;
  size_t weighted = 0;
  float sum = 0;
  for (const std::string& part : parts) {
    const size_t colon = part.find(':');
    const std::string name = part.substr(0, colon);
    const auto found = std::find(voices.begin(), voices.end(), name);
    if (found == voices.end()) {
      return absl::InvalidArgumentError(StrCat("voice: there is no voice ", Shown(name),
                                               "; there are: ", absl::StrJoin(voices, ", ")));
    }
    VoiceShare share{static_cast<size_t>(found - voices.begin()),
                     1.0F / static_cast<float>(parts.size())};
    if (colon != std::string::npos) {
      ++weighted;
      const std::string number = part.substr(colon + 1);
      if (!absl::SimpleAtof(number, &share.weight) || !std::isfinite(share.weight) ||
          share.weight <= 0) {
        return Refuse(text, StrCat("the weight ", Shown(number), " of ", name,
                                   " is not a number greater than 0"));
      }
    }
    const bool twice = std::any_of(shares.begin(), shares.end(), [&](const VoiceShare& other) {
      return other.voice == share.voice;
    });
    if (twice) return Refuse(text, StrCat("it has ", name, " twice"));
    sum += share.weight;
    shares.push_back(share);
  }
  if (weighted != 0 && weighted != shares.size())
    return Refuse(text, "some voices have a weight and some have none");
  if (std::abs(sum - 1.0F) > kTolerance)
    return Refuse(text, StrCat("its weights sum to ", sum, ", expected 1"));
  return shares;
}

}  // namespace millrace::speech
