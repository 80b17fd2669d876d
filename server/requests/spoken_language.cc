#include "server/requests/spoken_language.h"

#include <algorithm>
#include <vector>

#include "models/core/speech_choice.h"
#include "models/text/language_detector.h"

namespace millrace::server {
namespace {

// Short texts stay below it, so that "Done" or a name is spoken as English.
constexpr float kSure = 0.9F;

// Returns the text with a space in place of each tag. One that does not end is text.
std::string WithoutTags(std::string_view text, char open, char close) {
  std::string out;
  for (;;) {
    const size_t begin = text.find(open);
    const size_t end = begin == text.npos ? begin : text.find(close, begin);
    out += text.substr(0, end == text.npos ? end : begin);
    if (end == text.npos) return out;
    out += ' ';
    text.remove_prefix(end + 1);
  }
}

std::vector<models::DetectedLanguage> Detect(std::string_view text, SpeechTextFormat format) {
  switch (format) {
    case SpeechTextFormat::kTags:
      return models::DetectLanguages(WithoutTags(text, '[', ']'));
    case SpeechTextFormat::kSsml:
    case SpeechTextFormat::kSsmlFragment:
      return models::DetectLanguages(WithoutTags(text, '<', '>'));
    case SpeechTextFormat::kPlain:
      break;
  }
  return models::DetectLanguages(text);
}

}  // namespace

std::string OtherSpokenLanguage(std::string_view text, SpeechTextFormat format,
                                std::span<const models::ModelInfo* const> models) {
  const std::vector<models::DetectedLanguage> detected = Detect(text, format);
  if (detected.empty() || detected.front().confidence < kSure) return "";
  const std::string& language = detected.front().language;
  const bool spoken = std::ranges::any_of(models, [&](const models::ModelInfo* info) {
    return models::IsMadeFor(info->speech(), language);
  });
  return spoken && language != kUsualLanguage ? language : "";
}

}  // namespace millrace::server
