#include "models/synthesis/speech_units.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "models/text/sentence_splitter.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr size_t kLongestCharacter = 4;  // bytes

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Where to cut a text that is longer than max_bytes: 1..max_bytes.
size_t FindCut(std::string_view text, size_t max_bytes) {
  for (size_t i = max_bytes; i > max_bytes / 2; --i) {
    const char before = text[i - 1];
    if (text[i] == ' ' && (before == ',' || before == ';' || before == ':')) return i;
  }
  for (size_t i = max_bytes; i > 0; --i) {
    if (kAsciiSpace.find(text[i]) != std::string_view::npos) return i;
  }
  size_t cut = max_bytes;
  while (cut > 1 && IsContinuation(text[cut])) --cut;
  return cut;
}

}  // namespace

std::vector<std::string> SplitSpeechUnits(std::string_view text, size_t max_bytes) {
  std::vector<std::string> units;
  for (const Sentence& sentence : SplitSentences(text)) {
    std::string_view rest = Trim(sentence.text);
    while (rest.size() > max_bytes) {
      const size_t cut = FindCut(rest, max_bytes);
      units.emplace_back(TrimRight(rest.substr(0, cut)));
      rest = TrimLeft(rest.substr(cut));
    }
    if (!rest.empty()) units.emplace_back(rest);
  }
  return units;
}

bool HalveSpeechUnit(std::vector<std::string>& units, size_t index) {
  const auto unit = units.begin() + static_cast<std::ptrdiff_t>(index);
  std::vector<std::string> halves =
      SplitSpeechUnits(*unit, std::max(unit->size() / 2, kLongestCharacter));
  if (halves.size() < 2) return false;
  *unit = std::move(halves.front());
  units.insert(unit + 1, std::make_move_iterator(halves.begin() + 1),
               std::make_move_iterator(halves.end()));
  return true;
}

bool HasLetterOrDigit(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = DecodeAt(text, at);
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

}  // namespace millrace::models
