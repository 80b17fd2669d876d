#include "models/translation/markup/block_builder.h"

#include <algorithm>
#include <utility>

#include "models/text/unicode.h"
#include "models/translation/markup/boundaries.h"
#include "models/translation/markup/html_entities.h"

namespace millrace::translation {
namespace {

// Markup that is nested deeper is not paired, which bounds the work for a sentence.
constexpr size_t kDeepest = 32;

}  // namespace

void BlockBuilder::Add(MarkEvent::Kind kind, std::string_view markup) {
  block_.marked.events.push_back({block_.marked.text.size(), kind, std::string(markup)});
}

void BlockBuilder::Text(std::string_view text) {
  size_t at = 0;
  while (true) {
    const Boundary boundary = FindBoundary(text, at);
    Sentences(text.substr(at, boundary.begin - at));
    if (boundary.begin == boundary.end) return;
    const std::string_view markup = text.substr(boundary.begin, boundary.end - boundary.begin);
    if (boundary.is_sign) {
      Alone(markup);
    } else if (open_.empty() || options_.crosses_blocks) {
      Divide(markup);
    } else {
      Keep(markup);  // a pair does not go on behind the end of a block
    }
    at = boundary.end;
  }
}

void BlockBuilder::Sentences(std::string_view text) {
  MarkedText& marked = block_.marked;
  // In "a <br> b" one of the two spaces goes with the markup between them.
  if (!marked.events.empty() && marked.events.back().kind == MarkEvent::Kind::kAlone &&
      marked.events.back().at == marked.text.size() && marked.text.ends_with(' ') &&
      text.starts_with(' ')) {
    marked.events.back().markup += ' ';
    text.remove_prefix(1);
  }
  if (options_.is_html) {
    // Records characters that the source wrote literally where Escaped would write entities.
    for (size_t at = 0; at < text.size();) {
      const size_t bytes = models::DecodeAt(text, at).bytes;
      const std::string_view sign = text.substr(at, bytes);
      if (sign == "<" || sign == ">" || sign == "&" || sign == kNoBreakSpace) {
        const size_t begin = marked.text.size() + at;
        marked.spellings.push_back({begin, begin + bytes, std::string(sign)});
      }
      at += bytes;
    }
  }
  marked.text += text;
}

void BlockBuilder::Character(std::string_view character, std::string_view written) {
  MarkedText& marked = block_.marked;
  const size_t begin = marked.text.size();
  marked.text += character;
  if (character == kNoBreakSpace || Escaped(character, options_.is_html) != written)
    marked.spellings.push_back({begin, marked.text.size(), std::string(written)});
}

void BlockBuilder::Alone(std::string_view markup) { Add(MarkEvent::Kind::kAlone, markup); }

void BlockBuilder::Open(std::string_view name, std::string_view markup) {
  if (open_.size() >= kDeepest) return Alone(markup);
  open_.push_back({std::string(name), block_.marked.events.size(), false});
  Add(MarkEvent::Kind::kOpen, markup);
}

bool BlockBuilder::IsOpen(std::string_view name) const {
  return std::ranges::find(open_, name, &OpenMark::name) != open_.end();
}

void BlockBuilder::Close(std::string_view name, std::string_view markup) {
  if (!IsOpen(name)) return Alone(markup);
  for (bool found = false; !found;) {
    const OpenMark mark = std::move(open_.back());
    open_.pop_back();
    found = mark.name == name;
    // This mark crosses the closed pair: it stands alone, or ends here if it began in an earlier
    // block.
    if (!found && !mark.from_earlier)
      block_.marked.events[mark.event].kind = MarkEvent::Kind::kAlone;
    if (!found && mark.from_earlier) Add(MarkEvent::Kind::kClose, "");
  }
  Add(MarkEvent::Kind::kClose, markup);
}

void BlockBuilder::Keep(std::string_view bytes, std::string_view reads) {
  const size_t begin = block_.marked.text.size();
  block_.marked.text += bytes;
  block_.marked.kept.push_back({begin, block_.marked.text.size(), std::string(bytes)});
  if (!reads.empty()) block_.marked.kept.back().reads = reads;
}

void BlockBuilder::Divide(std::string_view markup) {
  if (block_.marked.text.empty() && block_.marked.events.empty()) {
    block_.before += markup;
    return;
  }
  if (!options_.crosses_blocks) LeaveAlone();
  blocks_.push_back(TakeBlock());
  block_.before = markup;
  for (OpenMark& mark : open_) mark.from_earlier = true;
}

void BlockBuilder::LeaveAlone() {
  for (const OpenMark& mark : open_) {
    if (!mark.from_earlier) block_.marked.events[mark.event].kind = MarkEvent::Kind::kAlone;
  }
  open_.clear();
}

MarkedBlock BlockBuilder::TakeBlock() {
  block_.marked.is_html = options_.is_html;
  block_.flows = options_.flows;
  return std::exchange(block_, {});
}

std::vector<MarkedBlock> BlockBuilder::TakeBlocks() {
  LeaveAlone();
  Divide("");
  if (blocks_.empty() || !block_.before.empty()) blocks_.push_back(TakeBlock());
  return std::move(blocks_);
}

}  // namespace millrace::translation
