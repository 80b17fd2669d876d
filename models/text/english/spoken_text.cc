#include "models/text/english/spoken_text.h"

#include <utility>

#include "models/text/ascii.h"
#include "models/text/english/one_of.h"

namespace millrace::models {
namespace {

// The bytes of marks that are kept between two words; long runs of marks add nothing.
constexpr size_t kMaxMarksBytes = 12;

// Returns true for words that speak of a telephone.
bool SpeaksOfCalling(std::string_view word) {
  return IsOneOf(word, "call", "called", "calling", "calls", "dial", "dialed", "dialing", "phone",
                 "text");
}

}  // namespace

void SpokenText::AddWord(std::string text, size_t begin, size_t end) {
  if (!words_.empty() && words_.back().after.empty() && !words_.back().text.empty()) {
    words_.back().after.assign(1, ' ');
  }
  const std::string lower_text = AsciiLower(text);
  const std::string_view lower = lower_text;
  so_far_.calling = so_far_.calling || SpeaksOfCalling(lower);
  so_far_.report = so_far_.report || IsOneOf(lower, "metar", "speci", "taf");
  so_far_.isotopes = so_far_.isotopes || lower.starts_with("isotop") ||
                     IsOneOf(lower, "carbon", "dating", "radiocarbon");
  words_.push_back({std::move(text), begin, end, ""});
}

void SpokenText::AddJoined(std::string text, size_t begin, size_t end) {
  words_.push_back({std::move(text), begin, end, ""});
}

void SpokenText::AddSpace() {
  if (!words_.empty() && !words_.back().after.ends_with(' ')) words_.back().after += ' ';
}

void SpokenText::AddMark(std::string_view mark, size_t at) {
  if (words_.empty()) words_.push_back({"", at, at, ""});
  std::string& after = words_.back().after;
  if (after.size() + mark.size() <= kMaxMarksBytes) after += mark;
}

void SpokenText::AddMarkBehind(std::string_view mark, size_t at) {
  while (!words_.empty() && words_.back().after.ends_with(' ')) words_.back().after.pop_back();
  AddMark(mark, at);
}

void SpokenText::Extend(std::string_view ending, size_t end) {
  words_.back().text += ending;
  words_.back().end = end;
}

std::string SpokenText::Previous() const {
  return words_.empty() ? "" : AsciiLower(words_.back().text);
}

std::vector<SpokenWord> SpokenText::Take() && {
  if (!words_.empty()) {
    std::string& after = words_.back().after;
    while (after.ends_with(' ')) after.pop_back();
  }
  return std::move(words_);
}

}  // namespace millrace::models
