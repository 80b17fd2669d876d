#include "models/text/language_detector.h"

// clang-format off: compact_lang_det.h needs FILE and does not include it.
#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>

#include <cstdio>
// clang-format on

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "models/core/utf8.h"

namespace millrace::models {
namespace {

// Detection does not improve beyond this many bytes.
constexpr size_t kMaxDetectedBytes = 32 << 10;
constexpr size_t kCandidates = 3;

// The library has some codes from before 1989, and names a script even where it is the usual one.
std::string TagOf(CLD2::Language language) {
  using Tag = std::pair<std::string_view, std::string_view>;
  constexpr Tag kTags[] = {{"iw", "he"}, {"jw", "jv"}, {"mo", "ro"}, {"zh-Hans", "zh"}};
  const std::string_view code = CLD2::LanguageCode(language);
  const auto* const known = std::ranges::find(kTags, code, &Tag::first);
  return std::string(known == std::end(kTags) ? code : known->second);
}

std::vector<DetectedLanguage> Detect(std::string_view text, bool is_html, int flags, float weight) {
  const CLD2::CLDHints hints = {nullptr, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
  std::array<CLD2::Language, kCandidates> languages;
  std::array<int, kCandidates> percents;
  std::array<double, kCandidates> scores;
  int letters = 0;
  bool reliable = false;
  CLD2::ExtDetectLanguageSummary(text.data(), static_cast<int>(text.size()), !is_html, &hints,
                                 flags, languages.data(), percents.data(), scores.data(), nullptr,
                                 &letters, &reliable);
  std::vector<DetectedLanguage> found;
  for (size_t i = 0; i < kCandidates; ++i) {
    if (languages[i] == CLD2::UNKNOWN_LANGUAGE || percents[i] <= 0) continue;
    const float certain = reliable ? weight : weight / 2;
    found.push_back({TagOf(languages[i]), static_cast<float>(percents[i]) / 100 * certain});
  }
  return found;
}

}  // namespace

bool CanDetectLanguages() { return true; }

std::vector<DetectedLanguage> DetectLanguages(std::string_view text, bool is_html) {
  if (text.size() > kMaxDetectedBytes) {
    size_t end = kMaxDetectedBytes;
    while (IsContinuationByte(text[end])) --end;
    text = text.substr(0, end);
  }
  std::vector<DetectedLanguage> found = Detect(text, is_html, 0, 1.0F);
  // For a word or two the library finds a language only with kCLDFlagBestEffort.
  if (found.empty()) found = Detect(text, is_html, CLD2::kCLDFlagBestEffort, 0.5F);
  return found;
}

}  // namespace millrace::models
