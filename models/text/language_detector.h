#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace::models {

// A language that a text seems to be written in.
struct DetectedLanguage {
  std::string language;  // BCP 47; the script only where it tells two apart, as in zh-Hant
  float confidence = 0;  // 0..1; at most 0.5 when the text is too short to be sure

  friend bool operator==(const DetectedLanguage&, const DetectedLanguage&) = default;
};

// Whether there is a detector in this build.
bool CanDetectLanguages();

// The languages that a UTF-8 text seems to be in, the likeliest first, at most three. None when it
// cannot be told. Of HTML only what stands between the tags is read, and of a long text only the
// beginning: half a millisecond at most. Thread-safe.
std::vector<DetectedLanguage> DetectLanguages(std::string_view text, bool is_html = false);

}  // namespace millrace::models
