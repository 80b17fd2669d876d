#pragma once

#include <functional>
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
// if they cannot be determined. Reads only the text between tags of HTML, leaves out what no
// translation changes (addresses, code, @names, #tags), and reads only the beginning of a long
// text: half a millisecond at most. Thread-safe.
std::vector<DetectedLanguage> DetectLanguages(std::string_view text, bool is_html = false);

// Returns true for a language (BCP 47) that can be meant.
using MeansLanguage = std::function<bool(const std::string& language)>;

// As DetectLanguages, where only some languages can be meant: their likeliest, unless the text is
// surely in another one, which is then returned. An empty language: it cannot be determined.
DetectedLanguage DetectLanguageAmong(std::string_view text, bool is_html,
                                     const MeansLanguage& can_be_meant);

}  // namespace millrace::models
