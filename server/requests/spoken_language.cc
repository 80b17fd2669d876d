#include "server/requests/spoken_language.h"

#include <algorithm>
#include <vector>

#include "models/core/speech_choice.h"
#include "models/text/language_detector.h"

namespace millrace::server {
namespace {

// Short texts stay below it, so that "Done" or a name is spoken as English.
constexpr float kSure = 0.9F;

}  // namespace

std::string OtherSpokenLanguage(std::string_view text,
                                std::span<const models::ModelInfo* const> models) {
  const std::vector<models::DetectedLanguage> detected = models::DetectLanguages(text);
  if (detected.empty() || detected.front().confidence < kSure) return "";
  const std::string& language = detected.front().language;
  const bool spoken = std::ranges::any_of(models, [&](const models::ModelInfo* info) {
    return models::IsMadeFor(info->speech(), language);
  });
  return spoken && language != kUsualLanguage ? language : "";
}

}  // namespace millrace::server
