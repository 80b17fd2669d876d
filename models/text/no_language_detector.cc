#include "models/text/language_detector.h"

namespace millrace::models {

bool CanDetectLanguages() { return false; }

std::vector<DetectedLanguage> DetectLanguages(std::string_view, bool) { return {}; }

DetectedLanguage DetectLanguageAmong(std::string_view, bool, const MeansLanguage&) { return {}; }

}  // namespace millrace::models
