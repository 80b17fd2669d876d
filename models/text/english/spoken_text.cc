#include "models/text/english/spoken_text.h"

#include <utility>

#include "models/text/ascii.h"
#include "models/text/english/word_kinds.h"

namespace millrace::models {
namespace {

// The bytes of marks that are kept between two words; long runs of marks add nothing.
constexpr size_t kMaxMarksBytes = 12;

// Notes what a word in small letters says of the numbers behind it.
void Note(std::string_view word, ContextSoFar& so_far) {
  using Topic = std::pair<std::string_view, bool ContextSoFar::*>;
  constexpr Topic kTopics[] = {{"calling", &ContextSoFar::calling},
                               {"electric", &ContextSoFar::electric},
                               {"isotopes", &ContextSoFar::isotopes},
                               {"report", &ContextSoFar::report},
                               {"versions", &ContextSoFar::versions}};
  const auto spoken = FindSpoken(word, "topic");
  if (!spoken) return;
  for (const auto& [name, noted] : kTopics) so_far.*noted = so_far.*noted || *spoken == name;
}

}  // namespace

void SpokenText::AddWord(std::string text, size_t begin, size_t end, bool from_digits) {
  if (!words_.empty() && words_.back().after.empty() && !words_.back().text.empty()) {
    words_.back().after.assign(1, ' ');
  }
  Note(AsciiLower(text), so_far_);
  words_.push_back({std::move(text), begin, end, "", from_digits});
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
