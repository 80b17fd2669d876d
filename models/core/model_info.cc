#include "models/core/model_info.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "models/core/strings.h"

namespace millrace::models {

std::string_view ToString(Task task) {
  switch (task) {
    case Task::kInfer:
      return "infer";
    case Task::kTranslation:
      return "translation";
    case Task::kSynthesis:
      return "synthesis";
  }
  return "unknown";
}

std::vector<std::string> SourceLanguages(const TranslationInfo& info) {
  if (info.source_languages.empty()) return {info.source_language};
  return info.source_languages;
}

std::vector<std::string> TargetLanguages(const TranslationInfo& info) {
  if (info.target_languages.empty()) return {info.target_language};
  return info.target_languages;
}

bool HasLanguage(const std::vector<std::string>& languages, std::string_view tag) {
  return std::ranges::any_of(languages, [tag](const std::string& language) {
    return absl::EqualsIgnoreCase(language, View(tag));
  });
}

}  // namespace millrace::models
