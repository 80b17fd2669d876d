#include "models/speech/speech_units.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>

#include "models/core/utf8.h"
#include "models/text/sentence_splitter.h"
#include "models/text/spoken_bytes.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"

namespace millrace::speech {
namespace {

constexpr size_t kLongestCharacter = 4;  // bytes

// Returns where to cut a text that is longer than max_bytes: 1..max_bytes.
size_t FindCut(std::string_view text, size_t max_bytes) {
  for (size_t i = max_bytes; i > max_bytes / 2; --i) {
    const char before = text[i - 1];
    if (text[i] == ' ' && (before == ',' || before == ';' || before == ':')) return i;
    if (models::IsWidePause(models::DecodeBefore(text, i).value)) return i;
  }
  for (size_t i = max_bytes; i > 0; --i) {
    if (models::kAsciiSpace.find(text[i]) != std::string_view::npos) return i;
  }
  size_t cut = max_bytes;
  while (cut > 1 && IsContinuationByte(text[cut])) --cut;
  return cut;
}

// Adds a sentence, cut into several units if it is too long.
void AddSentence(std::string_view sentence, size_t max_bytes,
                 std::vector<std::string_view>& units) {
  std::string_view rest = models::Trim(sentence);
  while (true) {
    const size_t most = models::TakeSpokenBytes(rest, max_bytes).size();
    if (most == rest.size()) break;
    const size_t cut = FindCut(rest, most);
    units.push_back(models::TrimRight(rest.substr(0, cut)));
    rest = models::TrimLeft(rest.substr(cut));
  }
  if (!rest.empty()) units.push_back(rest);
}

// Returns where the first sentence ends.
size_t PhonemeSentenceEnd(std::string_view phonemes) {
  bool stopped = false;
  for (size_t at = 0; at < phonemes.size();) {
    const models::CodePoint c = models::DecodeAt(phonemes, at);
    const char first = phonemes[at];
    const bool space = models::kAsciiSpace.find(first) != std::string_view::npos;
    if (space && (stopped || (first != ' ' && first != '\t'))) return at;
    // Closing quotes and brackets after a stop do not change that it ends the sentence.
    const bool closes = c.value == '"' || c.value == U'”' || c.value == ')';
    stopped = c.value == '.' || c.value == '!' || c.value == '?' || c.value == U'…' ||
              (stopped && closes);
    at += c.bytes;
  }
  return phonemes.size();
}

}  // namespace

std::vector<std::string_view> SplitSpeechUnits(std::string_view text, size_t max_bytes) {
  std::vector<std::string_view> units;
  for (const models::Sentence& sentence : models::SplitSentences(text, {.joins_short_lines = true}))
    AddSentence(sentence.text, max_bytes, units);
  return units;
}

std::vector<std::string_view> SplitPhonemeUnits(std::string_view phonemes, size_t max_bytes) {
  std::vector<std::string_view> units;
  for (std::string_view rest = models::TrimLeft(phonemes); !rest.empty();
       rest = models::TrimLeft(rest)) {
    const size_t end = PhonemeSentenceEnd(rest);
    AddSentence(rest.substr(0, end), max_bytes, units);
    rest.remove_prefix(end);
  }
  return units;
}

bool HalveSpeechUnit(std::vector<std::string_view>& units, size_t index) {
  const auto unit = units.begin() + static_cast<std::ptrdiff_t>(index);
  std::vector<std::string_view> halves;
  AddSentence(*unit, std::max(models::CountSpokenBytes(*unit) / 2, kLongestCharacter), halves);
  if (halves.size() < 2) return false;
  *unit = halves.front();
  units.insert(unit + 1, halves.begin() + 1, halves.end());
  return true;
}

models::SpeechBreak BreakBehind(std::string_view text) {
  const std::string_view spoken = models::TrimRight(text);
  if (spoken.empty()) return models::SpeechBreak::kNone;
  const std::string_view space = text.substr(spoken.size());
  if (const auto breaks = std::ranges::count(space, '\n'); breaks > 0)
    return breaks > 1 ? models::SpeechBreak::kParagraph : models::SpeechBreak::kSentence;
  constexpr std::u32string_view kStops = U".!?…।॥。！？";
  constexpr std::u32string_view kClosers = U"\"'”’»)]";
  for (size_t end = spoken.size(); end > 0;) {
    const models::CodePoint c = models::DecodeBefore(spoken, end);
    if (kStops.find(c.value) != std::u32string_view::npos) return models::SpeechBreak::kSentence;
    if (kClosers.find(c.value) == std::u32string_view::npos) break;
    end -= c.bytes;
  }
  return models::SpeechBreak::kClause;
}

bool HasLetterOrDigit(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const models::CodePoint point = models::DecodeAt(text, at);
    at += point.bytes;
    switch (utf8proc_category(static_cast<utf8proc_int32_t>(point.value))) {
      case UTF8PROC_CATEGORY_LU:
      case UTF8PROC_CATEGORY_LL:
      case UTF8PROC_CATEGORY_LT:
      case UTF8PROC_CATEGORY_LM:
      case UTF8PROC_CATEGORY_LO:
      case UTF8PROC_CATEGORY_ND:
      case UTF8PROC_CATEGORY_NL:
      case UTF8PROC_CATEGORY_NO:
        return true;
      default:
        break;
    }
  }
  return false;
}

}  // namespace millrace::speech
