#include "models/text/inline_pronunciation.h"

#include "models/core/strings.h"
#include "models/text/text_place.h"
#include "models/text/trim.h"

namespace millrace::models {
namespace {

constexpr std::string_view kOpen = "](/";
constexpr std::string_view kClose = "/)";

absl::Status Invalid(size_t at, std::string_view what) {
  return InvalidAt("text: the pronunciation [...](/.../) at ", at, StrCat(" ", what));
}

}  // namespace

absl::StatusOr<std::vector<TextSegment>> SplitInlinePronunciations(
    std::string_view text, const PhonemeVocabulary& vocabulary) {
  std::vector<TextSegment> segments;
  size_t plain = 0;
  size_t search = 0;
  while (true) {
    const size_t middle = text.find(kOpen, search);
    if (middle == std::string_view::npos) break;
    // Takes the innermost bracket, so that "[see [this](/.../)]" works, but none in text that is
    // done.
    const std::string_view before = text.substr(plain, middle - plain);
    const size_t bracket = before.rfind('[');
    if (bracket == std::string_view::npos || before.find(']', bracket) != std::string_view::npos) {
      return Invalid(middle, "has no [ before it");
    }
    const size_t open = plain + bracket;
    const std::string_view spoken = text.substr(open + 1, middle - open - 1);
    const size_t phonemes_at = middle + kOpen.size();
    const size_t close =
        text.substr(phonemes_at, kMaxInlinePhonemeBytes + kClose.size()).find(kClose);
    if (close == std::string_view::npos) {
      return Invalid(open,
                     StrCat("does not end with /) within ", kMaxInlinePhonemeBytes, " bytes"));
    }
    const std::string_view phonemes = Trim(text.substr(phonemes_at, close));
    if (Trim(spoken).empty()) return Invalid(open, "has no text");
    if (phonemes.empty()) return Invalid(open, "has no phonemes");
    if (const auto unknown = vocabulary.FirstUnknown(phonemes)) {
      return Invalid(open,
                     StrCat("has the symbol '", *unknown, "', which the voice does not know"));
    }
    if (open > plain) segments.push_back({text.substr(plain, open - plain), plain, {}});
    segments.push_back({spoken, open + 1, phonemes});
    plain = search = phonemes_at + close + kClose.size();
  }
  if (plain < text.size()) segments.push_back({text.substr(plain), plain, {}});
  return segments;
}

}  // namespace millrace::models
