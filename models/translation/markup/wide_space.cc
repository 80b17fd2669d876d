#include "models/translation/markup/wide_space.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"

namespace millrace::translation {
namespace {

// The first bytes of the characters that OtherSpaceBytes looks for.
constexpr std::string_view kLeads = "\xC2\xE1\xE2\xE3";

// Returns the bytes of a space such as U+00A0, U+2009 or U+3000 at a place; 0 if there is none. One
// of zero width divides words, too: what divides none is a mark already.
size_t OtherSpaceBytes(std::string_view text, size_t at) {
  if (at >= text.size() || kLeads.find(text[at]) == kLeads.npos) return 0;
  const models::CodePoint c = models::DecodeAt(text, at);
  const bool is_space = models::IsSpace(c.value) || (c.value == kZeroWidthSpace && at > 0 &&
                                                     models::DecodeBefore(text, at).value < kThai);
  return is_space && !models::IsLineBreak(c.value) ? c.bytes : 0;
}

bool HasOtherSpace(std::string_view text) {
  size_t at = text.find_first_of(kLeads);
  while (at != text.npos && OtherSpaceBytes(text, at) == 0) at = text.find_first_of(kLeads, at + 1);
  return at != text.npos;
}

// Returns true if a no-break space only keeps a sign of French with its word: « so », and so !
bool BelongsToSign(std::string_view text, size_t begin, size_t end) {
  constexpr std::u32string_view kSigns = U"!?:;»";
  return kSigns.find(models::DecodeAt(text, end).value) != kSigns.npos ||
         (begin > 0 && models::DecodeBefore(text, begin).value == U'«');
}

// Returns the next white space that a model reads as a space but that must be restored: line breaks
// and spaces that are not ASCII's, with the white space around them where there are such spaces.
// The range is empty when there is none.
std::pair<size_t, size_t> FindWideSpace(const MarkedText& marked, bool has_others, size_t from) {
  const std::string_view text = marked.text;
  for (size_t at = from; at < text.size();) {
    at = text.find_first_of(has_others ? "\n\r\xC2\xE1\xE2\xE3" : "\n\r", at);
    if (at == std::string_view::npos) break;
    const size_t other = OtherSpaceBytes(text, at);
    if (other == 0 && kLeads.find(text[at]) != kLeads.npos) {
      ++at;
      continue;
    }
    size_t begin = at;
    size_t end = at;
    if (has_others) {
      while (begin > from && models::kAsciiSpace.find(text[begin - 1]) != models::kAsciiSpace.npos)
        --begin;
    }
    for (bool more = true; more;) {
      const size_t before = end;
      end = std::min(text.find_first_not_of(" \t\n\r", end), text.size());
      if (has_others) end += OtherSpaceBytes(text, end);
      more = end > before;
    }
    const bool alone = begin == at && end == at + other;
    if (other == 0 || !alone || !BelongsToSign(text, begin, end)) return {begin, end};
    at = end;
  }
  return {text.size(), text.size()};
}

}  // namespace

void MarkWideSpaces(MarkedText& marked) {
  const bool has_others = marked.is_html || !marked.spellings.empty() || HasOtherSpace(marked.text);
  auto [begin, end] = FindWideSpace(marked, has_others, 0);
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
  for (; begin < end; std::tie(begin, end) = FindWideSpace(marked, has_others, end)) {
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
