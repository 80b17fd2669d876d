#include "server/requests/spoken_language.h"

#include <algorithm>
#include <vector>

#include "models/core/speech_choice.h"
#include "models/text/foreign_script.h"
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

std::string WithoutTags(std::string_view text, SpeechTextFormat format) {
  if (format == SpeechTextFormat::kPlain) return std::string(text);
  return format == SpeechTextFormat::kTags ? WithoutTags(text, '[', ']')
                                           : WithoutTags(text, '<', '>');
}

}  // namespace

std::string OtherSpokenLanguage(std::string_view text, SpeechTextFormat format,
                                std::span<const models::ModelInfo* const> models) {
  const std::vector<models::DetectedLanguage> detected =
      models::DetectLanguages(WithoutTags(text, format));
  if (detected.empty() || detected.front().confidence < kSure) return "";
  const std::string& language = detected.front().language;
  const bool spoken = std::ranges::any_of(models, [&](const models::ModelInfo* info) {
    return models::IsMadeFor(info->speech(), language);
  });
  return spoken && language != kUsualLanguage ? language : "";
}

std::string LanguageOfOtherScript(std::string_view text, SpeechTextFormat format,
                                  const models::ModelInfo& model) {
  const std::string plain = WithoutTags(text, format);
  if (!models::FindForeignScripts(plain, model.speech().language).all) return "";
  // The letters leave few languages, so that short texts need not be sure.
  for (const models::DetectedLanguage& detected : models::DetectLanguages(plain)) {
    if (models::IsMadeFor(model.speech(), detected.language)) return detected.language;
  }
  return "";
}

}  // namespace millrace::server
