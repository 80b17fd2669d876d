#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace::models {

// A language that a text seems to be written in.
struct DetectedLanguage {
  // BCP 47; the script only where it distinguishes two languages, as in zh-Hant.
  std::string language;
  float confidence = 0;  // 0..1; at most 0.5 when the text is too short to be sure

  friend bool operator==(const DetectedLanguage&, const DetectedLanguage&) = default;
};

// Returns true if this build has a detector.
bool CanDetectLanguages();

// Returns the languages that a UTF-8 text seems to be in, the likeliest first, at most three; none
// if they cannot be determined. Reads only the text between tags of HTML, and only the beginning of
// a long text: half a millisecond at most. Thread-safe.
std::vector<DetectedLanguage> DetectLanguages(std::string_view text, bool is_html = false);

}  // namespace millrace::models
