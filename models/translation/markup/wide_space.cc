#include "models/translation/markup/wide_space.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"
#include "models/translation/markup/html_entities.h"

namespace millrace::translation {
namespace {

// Returns true if a no-break space only keeps a sign of French with its word: « so », and so !
bool BelongsToSign(std::string_view text, size_t begin, size_t end) {
  constexpr std::u32string_view kSigns = U"!?:;»";
  return kSigns.find(models::DecodeAt(text, end).value) != kSigns.npos ||
         (begin > 0 && models::DecodeBefore(text, begin).value == U'«');
}

// Returns the next white space that a model reads as a space but that must be restored: line breaks
// and no-break spaces, with the white space around them where there are no-break spaces. The range
// is empty when there is none.
std::pair<size_t, size_t> FindWideSpace(const MarkedText& marked, bool has_no_break, size_t from) {
  const std::string_view text = marked.text;
  for (size_t at = from; at < text.size();) {
    at = text.find_first_of(has_no_break ? "\n\r\xC2" : "\n\r", at);
    if (at == std::string_view::npos) break;
    const bool no_break = text[at] == kNoBreakSpace[0];
    if (no_break && text.substr(at, kNoBreakSpace.size()) != kNoBreakSpace) {
      ++at;
      continue;
    }
    size_t begin = at;
    size_t end = at;
    if (has_no_break) {
      while (begin > from && models::kAsciiSpace.find(text[begin - 1]) != models::kAsciiSpace.npos)
        --begin;
    }
    for (bool more = true; more;) {
      const size_t before = end;
      end = std::min(text.find_first_not_of(" \t\n\r", end), text.size());
      if (has_no_break && text.substr(end, kNoBreakSpace.size()) == kNoBreakSpace)
        end += kNoBreakSpace.size();
      more = end > before;
    }
    const bool alone = begin == at && end == at + kNoBreakSpace.size();
    if (!no_break || !alone || !BelongsToSign(text, begin, end)) return {begin, end};
    at = end;
  }
  return {text.size(), text.size()};
}

}  // namespace

void MarkWideSpaces(MarkedText& marked) {
  const bool has_no_break = marked.is_html || !marked.spellings.empty() ||
                            marked.text.find(kNoBreakSpace) != std::string::npos;
  auto [begin, end] = FindWideSpace(marked, has_no_break, 0);
  if (begin == end) return;
  MarkedText joined;
  joined.is_html = marked.is_html;
  const auto append = [&joined](MarkedText piece) {
    for (MarkEvent& event : piece.events) {
      event.at += joined.text.size();
      joined.events.push_back(std::move(event));
    }
    for (KeptSpan& kept : piece.kept) {
      kept.begin += joined.text.size();
      kept.end += joined.text.size();
      joined.kept.push_back(std::move(kept));
    }
    for (Spelling& spelling : piece.spellings) {
      spelling.begin += joined.text.size();
      spelling.end += joined.text.size();
      joined.spellings.push_back(std::move(spelling));
    }
    joined.text += piece.text;
  };
  MarkedTextCutter cutter(marked);
  for (; begin < end; std::tie(begin, end) = FindWideSpace(marked, has_no_break, end)) {
    append(cutter.Take(begin));
    MarkedText wide = cutter.Take(end);
    MarkedText space{.text = " "};
    size_t put = 0;
    const auto put_until = [&](size_t until) {
      if (until == put) return;
      space.events.push_back({1, MarkEvent::Kind::kAlone, Written(wide, put, until)});
      put = until;
    };
    for (MarkEvent& event : wide.events) {
      put_until(event.at);
      event.at = put == 0 ? 0 : 1;
      space.events.push_back(std::move(event));
    }
    put_until(wide.text.size());
    append(std::move(space));
  }
  append(cutter.Take(marked.text.size()));
  marked = std::move(joined);
}

}  // namespace millrace::translation
