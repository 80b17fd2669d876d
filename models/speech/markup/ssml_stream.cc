#include "models/speech/markup/ssml_stream.h"

#include <algorithm>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/trim.h"

namespace millrace::speech {
namespace {

constexpr std::string_view kComment = "<!--";
constexpr std::string_view kCdata = "<![CDATA[";
constexpr size_t kMaxEntityBytes = 12;

// Returns the size of what ends with `mark`; 0 if that has not come.
size_t SizeTo(std::string_view text, size_t from, std::string_view mark) {
  const size_t end = text.find(mark, from);
  return end == std::string_view::npos ? 0 : end + mark.size();
}

// Returns the size of the tag, comment or other markup that begins with the first byte; 0 if it
// has not ended.
size_t MarkupBytes(std::string_view text) {
  if (text.starts_with(kComment)) return SizeTo(text, kComment.size(), "-->");
  if (text.starts_with(kCdata)) return SizeTo(text, kCdata.size(), "]]>");
  if (kComment.starts_with(text) || kCdata.starts_with(text)) return 0;
  char quote = 0;
  for (size_t i = 1; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      return i + 1;
    }
  }
  return 0;
}

// Returns the size of the entity that begins with the first byte, 1 if it is none, or 0 if that
// is not known yet.
size_t EntityBytes(std::string_view text) {
  const std::string_view head = text.substr(0, kMaxEntityBytes);
  for (size_t i = 1; i < head.size(); ++i) {
    if (head[i] == ';') return i + 1;
    if (!models::IsAsciiLetter(head[i]) && !models::IsAsciiDigit(head[i]) && head[i] != '#')
      return 1;
  }
  return head.size() == kMaxEntityBytes ? 1 : 0;
}

// Returns what the splitter of sentences is to see of an entity.
std::string_view Shape(std::string_view entity) {
  if (entity == "&quot;") return "\"";
  if (entity == "&apos;") return "'";
  if (entity == "&lt;") return "<";
  if (entity == "&gt;") return ">";
  return entity.starts_with("&#") ? "a" : "&";
}

std::string_view NameOf(std::string_view tag) {
  tag.remove_prefix(tag.starts_with("</") ? 2 : 1);
  return tag.substr(0, tag.find_first_of(" \t\r\n/>"));
}

}  // namespace

std::string SsmlStream::Push(std::string_view part) {
  text_ += part;
  Scan();
  Split();
  std::string whole = TakeTo(cut_);
  const size_t end = taken_ + text_.size();
  if (end - scanned_ > kMaxTagBytes || (depth_ > 0 && end - element_ > kMaxElementBytes) ||
      text_.size() > 2 * kMaxElementBytes)
    whole += TakeRest();
  return whole;
}

std::string SsmlStream::TakeWhole() {
  plain_ended_ += sentences_.TakeRest().size();
  last_plain_ = ' ';
  const Run& last = runs_.back();
  return TakeTo(last.source_begin + (last.plain_end - last.plain_begin));
}

std::string SsmlStream::TakeRest() {
  std::string rest = std::exchange(text_, {});
  *this = SsmlStream();
  return rest;
}

void SsmlStream::Scan() {
  while (scanned_ < taken_ + text_.size()) {
    const std::string_view rest = std::string_view(text_).substr(scanned_ - taken_);
    if (rest.front() != '<' && rest.front() != '&') {
      const std::string_view text = rest.substr(0, rest.find_first_of("<&"));
      if (depth_ == 0) {
        runs_.back().plain_end += text.size();
        AddPlain(text);
      } else {
        AddInner(text);
      }
      scanned_ += text.size();
      continue;
    }
    const bool is_tag = rest.front() == '<';
    const size_t bytes = is_tag ? MarkupBytes(rest) : EntityBytes(rest);
    if (bytes == 0) return;
    if (is_tag) {
      TakeTag(rest.substr(0, bytes));
    } else {
      AddInner(Shape(rest.substr(0, bytes)));
    }
    scanned_ += bytes;
    if (depth_ == 0) runs_.push_back({plain_, plain_, scanned_, 0});
  }
}

void SsmlStream::TakeTag(std::string_view tag) {
  if (tag.starts_with(kCdata)) {
    tag.remove_prefix(kCdata.size());
    return AddInner(tag.substr(0, tag.size() - 3));
  }
  if (tag[1] == '!' || tag[1] == '?') return;
  const std::string_view name = NameOf(tag);
  if (name == "p" || name == "s") {
    AddGap('\n');
  } else if (name == "break") {
    AddGap(' ');
  }
  if (tag[1] == '/') {
    // One too many is refused by the parser.
    if (depth_ > 0) --depth_;
  } else if (!tag.ends_with("/>") && depth_++ == 0) {
    Split();
    element_ = scanned_;
    entered_ = true;
  }
}

void SsmlStream::AddInner(std::string_view text) {
  if (depth_ > 0 && entered_) {
    // The first word of an element shows that a sentence ended before it. Once a sentence has ended
    // within the element, that would be lost.
    const size_t word = text.find_first_not_of(models::kAsciiSpace);
    if (word != std::string_view::npos) {
      const std::string_view first = text.substr(0, text.find_first_of(models::kAsciiSpace, word));
      AddPlain(first);
      Split();
      entered_ = false;
      text.remove_prefix(first.size());
    }
  }
  AddPlain(text);
}

void SsmlStream::AddGap(char space) {
  const bool spaced = models::kAsciiSpace.find(last_plain_) != std::string_view::npos;
  if (spaced && (space == ' ' || last_plain_ == '\n')) return;
  if (depth_ == 0) runs_.back().gap = 1;
  AddPlain(std::string_view(&space, 1));
}

void SsmlStream::AddPlain(std::string_view text) {
  if (text.empty()) return;
  unsplit_ += text;
  plain_ += text.size();
  last_plain_ = text.back();
}

void SsmlStream::Split() {
  if (!unsplit_.empty()) plain_ended_ += sentences_.Push(std::exchange(unsplit_, {})).size();
  const auto behind = std::ranges::upper_bound(runs_, plain_ended_, {}, &Run::plain_begin);
  if (behind == runs_.begin()) return;
  const Run& run = *(behind - 1);
  // Else the sentence ended within an element.
  if (plain_ended_ <= run.plain_end + run.gap)
    cut_ = run.source_begin + std::min(plain_ended_, run.plain_end) - run.plain_begin;
}

std::string SsmlStream::TakeTo(size_t source) {
  if (source <= taken_) return {};
  std::string piece = text_.substr(0, source - taken_);
  text_.erase(0, source - taken_);
  taken_ = cut_ = source;
  // The run in which the piece ends may go on.
  const auto behind = std::ranges::upper_bound(runs_, source, {}, &Run::source_begin);
  if (behind != runs_.begin()) runs_.erase(runs_.begin(), behind - 1);
  return piece;
}

}  // namespace millrace::speech
