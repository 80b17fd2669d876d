#include "models/translation/markup/stand_ins.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/unicode.h"

namespace millrace::translation {
namespace {

// Returns a letter that the text has nowhere before a digit, so that a stand-in differs from its
// words.
char StandInLetter(std::string_view text) {
  for (const char letter : {'X', 'K', 'Q', 'Z'}) {
    size_t at = text.find(letter);
    while (at != std::string_view::npos && !models::IsAsciiDigit(models::ByteAt(text, at + 1)))
      at = text.find(letter, at + 1);
    if (at == std::string_view::npos) return letter;
  }
  return 'J';
}

// Returns true if a word character touches either end of the range.
bool TouchesWord(std::string_view text, size_t begin, size_t end) {
  return (begin > 0 && models::IsWordCharacter(models::DecodeBefore(text, begin).value)) ||
         models::IsWordCharacter(models::DecodeAt(text, end).value);
}

}  // namespace

void PutStandIns(MarkedText& marked) {
  const char letter = StandInLetter(marked.text);
  MarkedText out;
  out.is_html = marked.is_html;
  size_t at = 0;
  size_t stand_ins = 0;
  auto event = marked.events.begin();
  auto spelling = marked.spellings.begin();
  const auto copy_until = [&](size_t end) {
    for (; event != marked.events.end() && event->at <= end; ++event) {
      out.events.push_back(
          {event->at - at + out.text.size(), event->kind, std::move(event->markup)});
    }
    for (; spelling != marked.spellings.end() && spelling->end <= end; ++spelling) {
      if (spelling->begin < at) continue;
      const size_t begin = spelling->begin - at + out.text.size();
      out.spellings.push_back(
          {begin, begin + spelling->end - spelling->begin, std::move(spelling->written)});
    }
    out.text.append(marked.text, at, end - at);
    at = end;
  };
  const auto is_number = [](const KeptSpan& kept) {
    return kept.returns && kept.reads && models::IsAsciiDigit(models::ByteAt(*kept.reads, 0));
  };
  // A number that the text has too could not be told from it.
  for (KeptSpan& kept : marked.kept)
    if (is_number(kept) && marked.text.find(*kept.reads) != std::string::npos) kept.reads.reset();
  const auto kept_end = marked.kept.end();
  for (auto first = marked.kept.begin(), last = first; first != kept_end; first = last) {
    if (first->reads) {
      ++last;
      copy_until(first->begin);
      at = first->end;
      const size_t begin = out.text.size();
      if (begin == 0 && first->reads->starts_with('-')) {
        // A dash at the beginning of a speech or a list item is none of its words.
        const size_t end = event != marked.events.end() ? event->at : marked.text.size();
        size_t words = at;
        while (words < end && marked.text[words] == ' ') ++words;
        first->becomes += Written(marked, at, words);  // a space may be an entity
        at = words;
        out.events.push_back({0, MarkEvent::Kind::kAlone, std::move(first->becomes)});
        continue;
      }
      out.text += *first->reads;
      if (!first->returns) continue;
      first->begin = begin;
      first->end = out.text.size();
      if (is_number(*first)) first->reads.reset();  // it is found as a stand-in is
      out.kept.push_back(std::move(*first));
      continue;
    }
    // Adjacent kept spans share one stand-in.
    while (++last != kept_end && last->begin == (last - 1)->end && !last->reads) continue;
    const size_t end = (last - 1)->end;
    copy_until(first->begin);
    if (TouchesWord(marked.text, first->begin, end) ||
        (event != marked.events.end() && event->at < end)) {
      for (; first != last; ++first) {
        at = first->begin;
        copy_until(at);
        out.events.push_back({out.text.size(), MarkEvent::Kind::kAlone, std::move(first->becomes)});
        at = first->end;
      }
      continue;
    }
    at = end;
    const size_t begin = out.text.size();
    out.text += letter + std::to_string(++stand_ins);
    out.kept.push_back({begin, out.text.size(), {}});
    for (; first != last; ++first) out.kept.back().becomes += first->becomes;
  }
  copy_until(marked.text.size());
  marked = std::move(out);
}

}  // namespace millrace::translation
