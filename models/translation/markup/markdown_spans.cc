#include "models/translation/markup/markdown_spans.h"

#include <algorithm>

#include "models/text/ascii.h"
#include "models/text/trim.h"
#include "models/translation/markup/markdown_lines.h"

namespace millrace::translation {
namespace {

// A span ends within so many bytes of its beginning, which keeps the time linear.
constexpr size_t kLongestCodeSpan = 2048;
constexpr size_t kLongestLink = 512;
constexpr size_t kMostSearchedForSpans = size_t{16} << 20;

size_t LineBreakAt(std::string_view text, size_t at) {
  const size_t end = std::min(text.find('\n', at), text.size());
  return end > at && text[end - 1] == '\r' ? end - 1 : end;
}

bool InterruptsParagraph(std::string_view line) {
  return models::Trim(line).empty() || PrefixEnd(line) > 0 || DirectiveEnd(line) > 0 ||
         !FenceOf(line).empty() || IsRule(line);
}

}  // namespace

size_t MarkdownSpans::LineEnd(size_t begin) {
  line_ = begin;
  is_paragraph_known_ = is_paragraph_known_ && begin < paragraph_end_;
  size_t end = line_end_ = LineBreakAt(text_, begin);
  size_t bracket = std::string_view::npos;  // the last [ without its counterpart
  for (size_t at = begin; at < end;) {
    if (text_[at] == '[') bracket = at;
    if (text_[at] == ']') bracket = std::string_view::npos;
    const size_t behind = std::max(SpanEnd(at), at + 1);
    if (behind > end) end = LineBreakAt(text_, behind);
    at = behind;
    const bool has_link = at >= end && bracket != std::string_view::npos;
    if (const size_t link = has_link ? LinkEnd(bracket) : 0; link > end)
      end = LineBreakAt(text_, link);
    if (has_link) bracket = std::string_view::npos;
  }
  return end;
}

size_t MarkdownSpans::SpanEnd(size_t at) {
  switch (text_[at]) {
    case '\\':  // takes the meaning of the next sign, but not of a line break
      return models::kAsciiSpace.find(models::ByteAt(text_, at + 1)) != std::string_view::npos
                 ? at
                 : at + 2;
    case '`':
      return CodeEnd(at);
    case '<':
      return TagEnd(at);
    case '{':
      return text_.substr(at, 3) == "{/*" ? Behind("*/}", at + 3, at) : at;
    default:
      return at;
  }
}

size_t MarkdownSpans::CodeEnd(size_t at) {
  const size_t inner = std::min(text_.find_first_not_of('`', at), text_.size());
  const std::string_view window = text_.substr(0, inner + kLongestCodeSpan);
  for (size_t close = window.find('`', inner); close != std::string_view::npos;) {
    const size_t end = std::min(text_.find_first_not_of('`', close), text_.size());
    if (end - close == inner - at) return IsInParagraph(close) ? end : inner;
    close = window.find('`', end);
  }
  return inner;
}

size_t MarkdownSpans::TagEnd(size_t at) {
  if (text_.substr(at, 4) == "<!--") return Behind("-->", at + 4, at);
  HtmlTag tag;
  if (!tags_.Read(at, tag) || !IsInParagraph(tag.end)) return at;
  if (!StaysAsItIs(tag)) return tag.end;
  const size_t end = tags_.ElementEnd(tag);
  const bool begins_line = models::Trim(BehindQuoteMarks(text_.substr(line_, at - line_))).empty();
  return end > 0 && (begins_line || IsInParagraph(end)) ? end : tag.end;
}

size_t MarkdownSpans::LinkEnd(size_t at) {
  const std::string_view window = text_.substr(0, at + kLongestLink);
  size_t close = window.find_first_of("[]", at + 1);
  if (models::ByteAt(window, close) != ']') return 0;
  // The name of a link in brackets: [words][name]
  if (at > line_ && text_[at - 1] == ']') return IsInParagraph(close) ? close + 1 : 0;
  const char next = models::ByteAt(window, close + 1);
  if (next != '(' && next != '[') return 0;
  close = window.find(next == '(' ? ')' : ']', close + 2);
  return close != std::string_view::npos && IsInParagraph(close) ? close + 1 : 0;
}

size_t MarkdownSpans::Behind(std::string_view mark, size_t from, size_t otherwise) {
  if (searched_in_vain_ > kMostSearchedForSpans) return otherwise;
  const size_t found = text_.find(mark, from);
  if (found != std::string_view::npos) return found + mark.size();
  searched_in_vain_ += text_.size() - from;
  return otherwise;
}

bool MarkdownSpans::IsInParagraph(size_t at) {
  if (at <= line_end_) return true;
  if (!is_paragraph_known_) {
    const bool quoted = models::TrimLeft(LineAt(text_, line_)).starts_with('>');
    size_t next = NextLine(text_, line_);
    for (; next < text_.size(); next = NextLine(text_, next)) {
      const std::string_view line = LineAt(text_, next);
      if (InterruptsParagraph(quoted ? BehindQuoteMarks(line) : line)) break;
    }
    paragraph_end_ = next;
    is_paragraph_known_ = true;
  }
  return at <= paragraph_end_;
}

}  // namespace millrace::translation
