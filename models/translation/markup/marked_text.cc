#include "models/translation/markup/marked_text.h"

#include <algorithm>

#include "models/text/unicode.h"
#include "models/translation/markup/html_entities.h"
#include "models/translation/markup/written_escapes.h"

namespace millrace::translation {
namespace {

constexpr char32_t kNoBreakSpaceCodePoint = 0xA0;

}  // namespace

std::string Escaped(std::string_view text, bool is_html) {
  if (!is_html) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const models::CodePoint c = models::DecodeAt(text, at);
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
      case kNoBreakSpaceCodePoint:
        out += "&nbsp;";
        break;
      default:
        out += text.substr(at, c.bytes);
    }
    at += c.bytes;
  }
  return out;
}

bool IsWrittenSpace(std::string_view markup) {
  const auto is_space = [](char32_t c) { return models::IsSpace(c) || c == kZeroWidthSpace; };
  for (size_t at = 0; at < markup.size();) {
    if (const size_t bytes = WrittenBreakBytes(markup.substr(at)); bytes > 0) {
      at += bytes;
      continue;
    }
    std::string entity;
    if (const size_t bytes = ReadEntity(markup.substr(at), entity); bytes > 0) {
      if (!is_space(models::DecodeAt(entity, 0).value)) return false;
      at += bytes;
      continue;
    }
    const models::CodePoint c = models::DecodeAt(markup, at);
    if (!is_space(c.value)) return false;
    at += c.bytes;
  }
  return !markup.empty();
}

void PutMarkup(std::string_view markup, size_t& text, std::string& out) {
  if (out.size() > text && out.back() == ' ' && IsWrittenSpace(markup)) out.pop_back();
  out += markup;
  text = out.size();
}

std::string Written(const MarkedText& marked, size_t begin, size_t end) {
  const std::string_view text = marked.text;
  std::string out;
  for (auto spelling = std::ranges::lower_bound(marked.spellings, begin, {}, &Spelling::begin);
       spelling != marked.spellings.end() && spelling->end <= end; ++spelling) {
    out += Escaped(text.substr(begin, spelling->begin - begin), marked.is_html);
    out += spelling->written;
    begin = spelling->end;
  }
  out += Escaped(text.substr(begin, end - begin), marked.is_html);
  return out;
}

std::string Untouched(const MarkedText& marked) {
  std::string out;
  size_t text_begin = 0;
  size_t at = 0;
  auto kept = marked.kept.begin();
  const auto put_until = [&](size_t end) {
    for (; kept != marked.kept.end() && kept->end <= end; ++kept) {
      out += Written(marked, at, kept->begin);
      out += kept->becomes;
      at = kept->end;
    }
    out += Written(marked, at, end);
    at = end;
  };
  for (const MarkEvent& event : marked.events) {
    put_until(event.at);
    PutMarkup(event.markup, text_begin, out);
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
    KeptSpan& kept = piece.kept.emplace_back(marked_.kept[next_kept_]);
    kept.begin -= at_;
    kept.end -= at_;
  }
  const std::vector<Spelling>& spellings = marked_.spellings;
  for (; next_spelling_ < spellings.size() && spellings[next_spelling_].end <= end;
       ++next_spelling_) {
    const Spelling& spelling = spellings[next_spelling_];
    piece.spellings.push_back({spelling.begin - at_, spelling.end - at_, spelling.written});
  }
  at_ = end;
  return piece;
}

MarkedText MarkedTextCutter::TakeSpace(size_t end) {
  MarkedText piece = Take(end);
  for (; next_event_ < marked_.events.size(); ++next_event_) {
    const MarkEvent& event = marked_.events[next_event_];
    if (event.at != end || event.kind != MarkEvent::Kind::kAlone || !IsWrittenSpace(event.markup))
      break;
    piece.events.push_back({piece.text.size(), event.kind, event.markup});
  }
  return piece;
}

}  // namespace millrace::translation
