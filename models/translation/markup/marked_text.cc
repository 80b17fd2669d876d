#include "models/translation/markup/marked_text.h"

#include "models/text/unicode.h"

namespace millrace::models {

std::string Escaped(std::string_view text, bool is_html) {
  if (!is_html) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = DecodeAt(text, at);
    switch (c.value) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case 0xA0:
        out += "&nbsp;";
        break;
      default:
        out += text.substr(at, c.bytes);
    }
    at += c.bytes;
  }
  return out;
}

void PutMarkup(std::string_view markup, std::string& out) {
  const bool breaks = markup.starts_with('\n') || markup.starts_with('\r');
  if (breaks && out.ends_with(' ')) out.pop_back();
  out += markup;
}

std::string Untouched(const MarkedText& marked) {
  std::string out;
  size_t at = 0;
  auto kept = marked.kept.begin();
  const auto put_until = [&](size_t end) {
    for (; kept != marked.kept.end() && kept->end <= end; ++kept) {
      out += Escaped(std::string_view(marked.text).substr(at, kept->begin - at), marked.is_html);
      out += kept->becomes;
      at = kept->end;
    }
    out += Escaped(std::string_view(marked.text).substr(at, end - at), marked.is_html);
    at = end;
  };
  for (const MarkEvent& event : marked.events) {
    put_until(event.at);
    PutMarkup(event.markup, out);
  }
  put_until(marked.text.size());
  return out;
}

MarkedText MarkedTextCutter::Take(size_t end) {
  MarkedText piece;
  piece.is_html = marked_.is_html;
  piece.text = marked_.text.substr(at_, end - at_);
  const bool last = end == marked_.text.size();
  for (; next_event_ < marked_.events.size(); ++next_event_) {
    const MarkEvent& event = marked_.events[next_event_];
    const bool closes = event.kind == MarkEvent::Kind::kClose;
    if (!last && event.at >= end && !(closes && event.at == end)) break;
    piece.events.push_back({event.at - at_, event.kind, event.markup});
  }
  for (; next_kept_ < marked_.kept.size() && marked_.kept[next_kept_].end <= end; ++next_kept_) {
    const KeptSpan& kept = marked_.kept[next_kept_];
    piece.kept.push_back({kept.begin - at_, kept.end - at_, kept.becomes});
  }
  at_ = end;
  return piece;
}

}  // namespace millrace::models
