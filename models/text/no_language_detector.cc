#include "models/text/language_detector.h"

namespace millrace::models {

bool CanDetectLanguages() { return false; }

std::vector<DetectedLanguage> DetectLanguages(std::string_view, bool) { return {}; }

}  // namespace millrace::models
