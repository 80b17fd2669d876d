#include "models/text/foreign_script.h"

#include <algorithm>
#include <array>

#include "models/text/unicode.h"

namespace millrace::models {
namespace {

struct Range {
  char32_t first;
  char32_t last;
  std::string_view name;
};

// Sorted by their first characters.
constexpr std::array<Range, 20> kRanges = {
    {{0x400, 0x52F, "Cyrillic text"},         {0x530, 0x58F, "Armenian text"},
     {0x590, 0x5FF, "Hebrew text"},           {0x600, 0x6FF, "Arabic text"},
     {0x750, 0x77F, "Arabic text"},           {0x900, 0x97F, "Hindi text"},
     {0x980, 0x9FF, "Bengali text"},          {0xB80, 0xBFF, "Tamil text"},
     {0xC00, 0xC7F, "Telugu text"},           {0xE00, 0xE7F, "Thai text"},
     {0x10A0, 0x10FF, "Georgian text"},       {0x1100, 0x11FF, "Korean characters"},
     {0x3005, 0x3007, "Chinese characters"},  {0x3041, 0x30FF, "Japanese characters"},
     {0x3400, 0x9FFF, "Chinese characters"},  {0xAC00, 0xD7AF, "Korean characters"},
     {0xF900, 0xFAFF, "Chinese characters"},  {0xFE70, 0xFEFC, "Arabic text"},
     {0xFF66, 0xFF9F, "Japanese characters"}, {0x20000, 0x3134F, "Chinese characters"}}};
static_assert(std::ranges::is_sorted(kRanges, {}, &Range::first));

// Formulas have words of fewer Greek letters.
constexpr size_t kLeastGreekLetters = 4;

bool IsGreek(char32_t c) {
  return ((c >= 0x370 && c <= 0x3FF) || (c >= 0x1F00 && c <= 0x1FFF)) && IsLetter(c);
}

// Returns true if a word of the text is Greek.
bool HasGreekWord(std::string_view text) {
  size_t letters = 0;
  for (size_t at = 0; at < text.size() && letters < kLeastGreekLetters;) {
    const CodePoint c = DecodeAt(text, at);
    at += c.bytes;
    letters = IsGreek(c.value) ? letters + 1 : 0;
  }
  return letters == kLeastGreekLetters;
}

// Returns true for languages that are written in other letters.
bool HasOtherLetters(std::string_view language) {
  constexpr std::array<std::string_view, 26> kLanguages = {
      "ar", "be", "bg", "bn", "el", "fa", "he", "hi", "hy", "ja", "ka", "kk", "ko",
      "ky", "mk", "ml", "mn", "ne", "ru", "sr", "ta", "te", "th", "uk", "ur", "zh"};
  const std::string_view primary = language.substr(0, language.find_first_of("-_"));
  return std::ranges::binary_search(kLanguages, primary);
}

}  // namespace

std::string_view ForeignScript(char32_t c) {
  const auto behind = std::ranges::upper_bound(kRanges, c, {}, &Range::first);
  if (behind == kRanges.begin() || c > (behind - 1)->last || !IsLetter(c)) return {};
  return (behind - 1)->name;
}

ForeignRun FindForeignRun(std::string_view text, size_t at) {
  ForeignRun run{at, ForeignScript(DecodeAt(text, at).value)};
  while (at < text.size()) {
    const CodePoint c = DecodeAt(text, at);
    const std::string_view name = ForeignScript(c.value);
    if (name.empty() && (c.value < 0x80 ? c.value != ' ' && c.value != '-' : IsLetter(c.value)))
      break;
    at += c.bytes;
    if (!name.empty()) run.end = at;
    if (name == "Japanese characters") run.script = name;
  }
  return run;
}

ForeignScripts FindForeignScripts(std::string_view text, std::string_view language) {
  ForeignScripts found;
  if (HasOtherLetters(language)) return found;
  const bool is_greek = HasGreekWord(text);
  bool others = false;
  for (const char32_t c : DecodeUtf8(text)) {
    const std::string_view name = c < 0x370                ? std::string_view()
                                  : is_greek && IsGreek(c) ? "Greek text"
                                                           : ForeignScript(c);
    if (name.empty()) {
      others = others || IsLetter(c) || IsDigit(c);
    } else if (std::ranges::find(found.names, name) == found.names.end()) {
      found.names.emplace_back(name);
    }
  }
  found.all = !found.names.empty() && !others;
  return found;
}

}  // namespace millrace::models
