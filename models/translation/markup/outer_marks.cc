#include "models/translation/markup/outer_marks.h"

#include <algorithm>
#include <string_view>

#include "models/text/unicode.h"
#include "models/text/unspaced_script.h"

namespace millrace::translation {
namespace {

// Returns true for the mark of an accelerator key in the first word of a few: E&xit all.
bool IsKeyOfFirstWord(const MarkEvent& event, std::string_view text) {
  const size_t end = std::min(text.find(' '), text.size());
  if (event.kind != MarkEvent::Kind::kAlone || (event.markup != "&" && event.markup != "_") ||
      event.at >= end)
    return false;
  for (size_t at = 0; at < end;) {
    const models::CodePoint c = models::DecodeAt(text, at);
    if (!models::IsLetter(c.value)) return false;
    at += c.bytes;
  }
  return true;
}

}  // namespace

OuterMarks TakeOuterMarks(MarkedText& marked) {
  const std::string_view text = marked.text;
  OuterMarks outer;
  if (marked.events.empty() || text.empty() || models::IsSpace(models::DecodeAt(text, 0).value) ||
      models::IsSpace(models::DecodeBefore(text, text.size()).value) || models::EndsUnspaced(text))
    return outer;
  const auto is_before = [text](const MarkEvent& event) {
    return event.at == 0 || IsKeyOfFirstWord(event, text);
  };
  const auto is_inner = [&](const MarkEvent& event) {
    return (!is_before(event) && event.at < text.size()) || IsWrittenSpace(event.markup);
  };
  if (std::ranges::any_of(marked.events, is_inner)) return outer;
  for (const MarkEvent& event : marked.events)
    (is_before(event) ? outer.before : outer.behind) += event.markup;
  marked.events.clear();
  return outer;
}

}  // namespace millrace::translation
