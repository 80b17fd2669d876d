#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/text/language_detector.h"
#include "tests/fakes/needed.h"

namespace millrace::models {

class LanguageDetectorTest : public ::testing::Test {
 protected:
  void SetUp() override { MILLRACE_NEEDS(CanDetectLanguages(), "built without a detector"); }
  static DetectedLanguage Best(const std::string& text) {
    const auto found = DetectLanguages(text);
    return found.empty() ? DetectedLanguage{} : found.front();
  }
};

// Returns the texts that are not taken for a language although only English and Portuguese can be
// meant.
inline std::vector<std::string> NotTakenFor(const std::string& language,
                                            const std::vector<std::string>& texts) {
  std::vector<std::string> wrong;
  for (const std::string& text : texts) {
    const auto found = DetectLanguageAmong(
        text, false, [](const std::string& tag) { return tag == "en" || tag == "pt"; });
    if (found.language != language) wrong.push_back(text + " (" + found.language + ")");
  }
  return wrong;
}

}  // namespace millrace::models
