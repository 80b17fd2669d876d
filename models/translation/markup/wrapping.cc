#include "models/translation/markup/wrapping.h"

#include <algorithm>
#include <array>
#include <string>

#include "models/text/unicode.h"

namespace millrace::translation {
namespace {

struct Pair {
  char32_t opening;
  char32_t closing;
};
constexpr std::array<Pair, 11> kPairs = {{{U'(', U')'},
                                          {U'[', U']'},
                                          {U'<', U'>'},
                                          {U'"', U'"'},
                                          {U'\'', U'\''},
                                          {U'“', U'”'},
                                          {U'„', U'“'},
                                          {U'‘', U'’'},
                                          {U'«', U'»'},
                                          {U'‹', U'›'},
                                          {U'（', U'）'}}};

bool IsPair(char32_t opening, char32_t closing) {
  return std::ranges::any_of(
      kPairs, [&](const Pair& pair) { return pair.opening == opening && pair.closing == closing; });
}

bool EndsAnyPair(char32_t c) {
  return std::ranges::any_of(
      kPairs, [c](const Pair& pair) { return pair.opening == c || pair.closing == c; });
}

// Returns the pair right around [begin, end) of a text.
Wrapping WrappingAround(std::string_view text, size_t begin, size_t end) {
  if (begin == 0 || end >= text.size()) return {};
  const models::CodePoint opening = models::DecodeBefore(text, begin);
  const models::CodePoint closing = models::DecodeAt(text, end);
  if (!IsPair(opening.value, closing.value)) return {};
  return {opening.bytes, closing.bytes};
}

// Returns true if neither end of [begin, end) touches a word.
bool StandsAlone(std::string_view text, size_t begin, size_t end) {
  constexpr std::u32string_view kBehind = U".,;:!?…";
  const char32_t before = begin > 0 ? models::DecodeBefore(text, begin).value : U' ';
  const models::CodePoint behind = models::DecodeAt(text, end);
  return (models::IsSpace(before) || EndsAnyPair(before)) &&
         (behind.bytes == 0 || models::IsSpace(behind.value) || EndsAnyPair(behind.value) ||
          kBehind.find(behind.value) != std::u32string_view::npos);
}

}  // namespace

Wrapping FindWrapping(std::string_view text) {
  constexpr size_t kMostWords = 3;
  const models::CodePoint first = models::DecodeAt(text, 0);
  if (text.size() <= first.bytes) return {};
  const models::CodePoint last = models::DecodeBefore(text, text.size());
  if (text.size() <= first.bytes + last.bytes || !IsPair(first.value, last.value)) return {};
  size_t words = 0;
  bool within = false;
  for (size_t at = first.bytes; at < text.size() - last.bytes;) {
    const models::CodePoint c = models::DecodeAt(text, at);
    // A sign of that kind may belong to another pair, and words of a script without spaces are not
    // counted.
    if (EndsAnyPair(c.value) || c.value >= 0x3000) return {};
    const bool is_word = models::IsWordCharacter(c.value);
    if (is_word && !within && ++words > kMostWords) return {};
    within = is_word;
    at += c.bytes;
  }
  return words > 0 ? Wrapping{first.bytes, last.bytes} : Wrapping{};
}

void KeepWrappings(MarkedText& marked) {
  const std::string_view text = marked.text;
  auto event = marked.events.begin();
  for (size_t i = 0; i < marked.kept.size(); ++i) {
    KeptSpan& kept = marked.kept[i];
    while (event != marked.events.end() && event->at < kept.begin) ++event;
    // Marks stand between a span and the signs around it.
    if (event != marked.events.end() && event->at <= kept.end) continue;
    const size_t free = i > 0 ? marked.kept[i - 1].end : 0;
    const size_t next = i + 1 < marked.kept.size() ? marked.kept[i + 1].begin : text.size();
    while (true) {
      const Wrapping wrapping = WrappingAround(text, kept.begin, kept.end);
      const size_t begin = kept.begin - wrapping.opening;
      const size_t end = kept.end + wrapping.closing;
      if (wrapping.opening == 0 || begin < free || end > next || !StandsAlone(text, begin, end))
        break;
      if (event != marked.events.end() && event->at < end) break;
      if (event != marked.events.begin() && (event - 1)->at > begin) break;
      kept.becomes.insert(0, Written(marked, begin, kept.begin));
      kept.becomes += Written(marked, kept.end, end);
      kept.begin = begin;
      kept.end = end;
    }
  }
}

}  // namespace millrace::translation
